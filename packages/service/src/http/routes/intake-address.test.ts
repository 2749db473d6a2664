/** Where and as whom logs are delivered: ports, TLS, intake.json, the commands that make credentials, a service without logs. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SELF_SIGNED } from '../../../../api/src/testdata/self-signed.ts';
import { type IntakeAccess, type LogService, post, startLogService } from '../../../test/logs.ts';
import { type Service, startService } from '../../../test/service.ts';
import { intakeCommand } from '../../intake-command.ts';
import { settingsSchema } from '../../settings/definition.ts';

const running: Service[] = [];
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
});
async function start(options: Parameters<typeof startLogService>[0] = {}): Promise<LogService> {
  const service = await startLogService(options);
  running.push(service);
  return service;
}
const line = gzipSync('{"RayID":"1","EdgeResponseStatus":200,"ClientRequestHost":"x"}\n');

let certificates: string;
beforeAll(() => {
  certificates = mkdtempSync(path.join(tmpdir(), 'obsiac-tls-'));
  writeFileSync(path.join(certificates, 'cert.pem'), SELF_SIGNED.cert);
  writeFileSync(path.join(certificates, 'key.pem'), SELF_SIGNED.key);
});
afterAll(() => rmSync(certificates, { recursive: true }));

describe('intake.json', () => {
  it('is written by the first start, for its owner alone, and holds what a job needs', async () => {
    const service = await start();
    const file = path.join(service.dataDir, 'intake.json');
    expect(service.app.intakeFile).toBe(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const access = JSON.parse(readFileSync(file, 'utf8')) as IntakeAccess;
    expect(access).toEqual({
      endpoint: service.origin,
      username: 'default-logs',
      password: expect.stringMatching(/^[\w-]{43}$/),
      authorization: `Basic ${btoa(`default-logs:${access.password}`)}`,
      cloudflare_url: `${service.origin}/cloudflare?header_Authorization=${encodeURIComponent(access.authorization)}`,
    });
    expect((await post(access.cloudflare_url, line)).status).toBe(200);
  });

  it('keeps its password, and gets the address of a later start', async () => {
    const first = await startLogService();
    const { dataDir, access } = first;
    await first.stop({ keep: true });
    const service = await start({ dataDir, settings: { intake_public_url: 'https://logs.example.com' } });
    expect(service.access).toMatchObject({
      endpoint: 'https://logs.example.com',
      password: access.password,
      cloudflare_url: expect.stringMatching(/^https:\/\/logs\.example\.com\/cloudflare\?header_Authorization=Basic%20/),
    });
  });

  it('that was deleted is not made anew: its credential is still in force', async () => {
    const first = await startLogService();
    const { dataDir } = first;
    await first.stop({ keep: true });
    rmSync(path.join(dataDir, 'intake.json'));
    const service = await startService({ dataDir, settings: { logs: true } });
    running.push(service);
    expect(existsSync(path.join(dataDir, 'intake.json'))).toBe(false);
  });
});

describe('a port of its own', () => {
  it('has the intake and nothing else, and the other port has none', async () => {
    const service = await start({ settings: { intake_port: 0 } });
    const { endpoint, authorization } = service.access;
    expect(endpoint).not.toBe(service.origin);
    expect((await service.deliver('/cloudflare', line)).status).toBe(200);
    expect((await fetch(`${endpoint}/healthz`)).status).toBe(200);
    expect((await fetch(`${endpoint}/api/v4/openapi.json`)).status).toBe(404);
    expect((await post(`${service.origin}/cloudflare`, line, { authorization })).status).toBe(404);
  });

  it('speaks TLS with the certificate given, and the API beside it does not', async () => {
    const tls = { tls_cert: path.join(certificates, 'cert.pem'), tls_key: path.join(certificates, 'key.pem') };
    const service = await start({ settings: { intake_port: 0, ...tls } });
    const { endpoint, cloudflare_url } = service.access;
    expect([endpoint, service.origin]).toEqual([expect.stringMatching(/^https:/), expect.stringMatching(/^http:/)]);
    const status = await new Promise((resolve, reject) => {
      const agent = new Agent({ rejectUnauthorized: false });
      request(cloudflare_url, { method: 'POST', agent }, (answer) => resolve(answer.statusCode))
        .on('error', reject)
        .end(line);
    });
    expect(status).toBe(200);
  });

  it('that cannot be had stops the start, with a sentence', async () => {
    const service = await start();
    const taken = Number(new URL(service.origin).port);
    await expect(startService({ settings: { logs: true, intake_port: taken } })).rejects.toThrow(/--intake-port/);
    const tls_cert = path.join(certificates, 'nowhere.pem');
    await expect(startService({ settings: { logs: true, tls_cert, tls_key: tls_cert } })).rejects.toThrow(
      /nowhere\.pem .*ENOENT/,
    );
  });
});

describe('a service without logs', () => {
  it('has no intake, no engine and no intake.json', async () => {
    const service = await startService({ settings: { logs: false, intake_port: 0 } });
    running.push(service);
    expect((await post(`${service.origin}/cloudflare`, line)).status).toBe(404);
    expect((await post(`${service.origin}/v1/logs`, line)).status).toBe(404);
    expect(existsSync(path.join(service.dataDir, 'logs'))).toBe(false);
    expect(service.app.intakeFile).toBeNull();
    expect((await service.fetch('GET', '/metrics')).text).not.toContain('obsiac_spool');
  });
});

describe('obsiac-service intake', () => {
  it('makes, lists and revokes credentials of a running service', async () => {
    const service = await start();
    const settings = settingsSchema.parse({ data_dir: service.dataDir });
    const run = async (args: string[], username?: string) => {
      const outcome = await intakeCommand(settings, args, { username });
      return 'text' in outcome ? outcome.text : outcome.usage;
    };
    const made = JSON.parse(await run(['create'], 'second')) as IntakeAccess;
    expect(made).toMatchObject({ username: 'second', endpoint: service.origin });
    expect((await post(made.cloudflare_url, line)).status).toBe(200);
    const list = await run(['list']);
    expect(list).toMatch(/^USERNAME +CREATED +LAST USED +STATE +ID\n/);
    expect(list).toMatch(/\nsecond +\d{4}-\d\d-\d\d \d\d:\d\d +\d{4}-\d\d-\d\d \d\d:\d\d +in force/);
    expect(list).toContain('default-logs');
    expect(list).not.toContain(made.password);
    expect(await run(['revoke', 'second'])).toContain('Revoked');
    expect((await post(made.cloudflare_url, line)).status).toBe(401);
    expect(await run(['list'])).toMatch(/\nsecond .* revoked \d{4}/);
    await expect(run(['revoke', 'second'])).rejects.toThrow(/No intake credential/);
    await expect(run(['create'], 'default-logs')).rejects.toThrow(/in use/);
    // A name that was revoked can be given again.
    expect(JSON.parse(await run(['create'], 'second')).password).not.toBe(made.password);
    const { body } = await service.call('read', 'GET', '/audit_trail?kind=intake_credential');
    expect(body.entries.map((entry: { action: string }) => entry.action)).toEqual([
      'create',
      'revoke',
      'create',
      'create',
    ]);
    expect(JSON.stringify(body)).not.toContain('hash');
  });

  it.each([
    [['create'], 'a:b', 'no colon'],
    [['create', 'x'], undefined, '--username'],
    [['revoke'], undefined, 'Say which'],
    [['drop'], undefined, 'not "drop"'],
    [[], undefined, 'needs one of'],
  ])('says what is wrong with %j', async (args, username, message) => {
    const settings = settingsSchema.parse({ data_dir: certificates });
    expect(await intakeCommand(settings, args, { username })).toMatchObject({
      usage: expect.stringContaining(message),
    });
  });

  it('works as a program', async () => {
    const service = await start();
    const bin = path.join(import.meta.dirname, '../../../bin/obsiac-service.js');
    const env = { PATH: process.env['PATH'] };
    const out = execFileSync(process.execPath, [bin, 'intake', 'create', '--data-dir', service.dataDir], {
      encoding: 'utf8',
      env,
    });
    const made = JSON.parse(out) as IntakeAccess;
    expect(made.username).toMatch(/^default-logs-[0-9a-f]{6}$/);
    expect((await post(made.cloudflare_url, line)).status).toBe(200);
    expect(execFileSync(process.execPath, [bin, 'intake', '--help'], { encoding: 'utf8', env })).toContain(
      'intake revoke',
    );
  });
});
