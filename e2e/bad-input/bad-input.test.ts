/**
 * Broken models, configs, states and services: each case is a golden script of `cases/` that says what is printed and how
 * it ends. A line `server: NAME` in the head of a case names what stands behind the address of the config; lines
 * `make: WHAT FILE` make files that no text can hold. `UPDATE=1` writes what was printed into the cases.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../packages/cli/test/run-cli.ts';
import { normaliseCommon, readScript, runScript, type Script, writeScript } from '../../packages/cli/test/script.ts';
import { type RealService, startRealService } from '../real-service.ts';
import { runAsNobody } from './as-nobody.ts';
import { isMisbehaviour, startMisbehaving } from './misbehaving-servers.ts';

const folder = path.join(import.meta.dirname, 'cases');
const cases = readdirSync(folder).sort();
const MEGABYTE = 1024 * 1024;

const MODEL = `entities:
  - name: Checkout
    type: service
    external_ref: checkout
    indicators:
      - name: Errors
        query: sum(rate(errors_total[5m]))
    alert_rules:
      - name: Many errors
        indicator: Errors
        greater_than: 5
        bad_minutes: 3
        total_minutes: 10
`;

const access = (scope: string) =>
  `{ "refresh_token": "\${${scope.toUpperCase()}_TOKEN}", "api_base_url": "\${API}", "org": "\${ORG}" }`;
const CONFIG = `{
  "api_config": {
    "read": ${access('read')},
    "write": ${access('write')},
    "delete": ${access('delete')}
  },
  "state_lock_file_path": "state.lock"
}
`;

/** Secrets that no output may ever hold, whatever is wrong. */
const SECRETS = ['s3cr3t-read-token', 's3cr3t-write-token', 's3cr3t-delete-token'];

interface Backend {
  readonly env: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/** What the head of a case asks for. */
async function startBackend(script: Script): Promise<Backend> {
  const name = /^server: (\S+)$/m.exec(script.head)?.[1] ?? 'none';
  const [read = '', write = '', remove = ''] = SECRETS;
  const placeholders = {
    API: 'http://127.0.0.1:1/api/v4',
    ORG: 'acme',
    READ_TOKEN: read,
    WRITE_TOKEN: write,
    DELETE_TOKEN: remove,
  };
  const nothing = () => Promise.resolve();
  if (name === 'none') {
    return { env: placeholders, stop: nothing };
  }
  if (isMisbehaviour(name)) {
    const server = await startMisbehaving(name);
    return { env: { ...placeholders, API: server.apiBaseUrl }, stop: server.stop };
  }
  // Each case has a service of its own, so that none sees what another leaves behind.
  const service = await startRealService();
  const { tokens } = service;
  const env = {
    API: service.apiBaseUrl,
    ORG: service.org,
    READ_TOKEN: tokens.read,
    WRITE_TOKEN: tokens.write,
    DELETE_TOKEN: tokens.delete,
  };
  return { env: { ...env, ...tokenOf(name, service) }, stop: service.stop };
}

function tokenOf(name: string, service: RealService): Readonly<Record<string, string>> {
  switch (name) {
    case 'real':
      return {};
    case 'real-wrong-token':
      return { READ_TOKEN: SECRETS[0] ?? '' };
    case 'real-revoked-token': {
      const token = service.createToken('read', 'revoked');
      service.revokeToken('revoked');
      return { READ_TOKEN: token };
    }
    case 'real-read-scope-only':
      return { WRITE_TOKEN: service.tokens.read };
    case 'real-delete-scope-for-read':
      return { READ_TOKEN: service.tokens.delete };
    case 'real-wrong-org':
      return { ORG: 'no-such-org' };
    default:
      throw new Error(`no server is called ${name}`);
  }
}

/** Files that a script cannot hold as text. */
function makeFiles(script: Script, directory: string): void {
  for (const [, what, name = ''] of script.head.matchAll(/^make: (\S+) (\S+)$/gm)) {
    const file = path.join(directory, name);
    switch (what) {
      case '11mb':
        writeFileSync(file, `# ${'x'.repeat(98)}\n`.repeat((11 * MEGABYTE) / 101));
        break;
      case 'binary':
        writeFileSync(file, Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff, 0xfe, 0]));
        break;
      case 'latin1':
        writeFileSync(file, Buffer.from('entities:\n  - name: Caf\u00e9\n', 'latin1'));
        break;
      case 'utf16':
        writeFileSync(file, Buffer.from('\ufeffentities: []\n', 'utf16le'));
        break;
      case 'empty':
        writeFileSync(file, '');
        break;
      case 'alias-bomb':
        writeFileSync(file, aliasBomb());
        break;
      case 'unreadable':
        writeFileSync(file, MODEL);
        chmodSync(file, 0);
        break;
      case 'link-to-itself':
        symlinkSync(name, file);
        break;
      case 'truncated':
        writeFileSync(file, '{"version": 1, "serial": 4, "lineage": "aa');
        break;
      default:
        throw new Error(`nothing makes ${what}`);
    }
  }
}

function aliasBomb(): string {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const items =
      level === 0 ? Array.from({ length: 10 }, () => 'boom') : Array.from({ length: 10 }, () => `*a${level - 1}`);
    return `x-${level}: &a${level} [${items.join(', ')}]`;
  });
  return `${levels.join('\n')}\nentities: *a11\n`;
}

function normalise(text: string, directory: string): string {
  return (
    normaliseCommon(text, directory)
      .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      // Which of several requests under way is refused first is chance.
      .replace(/(?<=GET \/api\/v4\/organizations\/\w+\/)[\w-]+/g, 'RESOURCE')
  );
}

describe('bad input', { timeout: 120_000 }, () => {
  it('has 40 cases or more', () => expect(cases.length).toBeGreaterThanOrEqual(40));

  it.concurrent.for(cases)('%s', async (name, context) => {
    const file = path.join(folder, name);
    const text = readFileSync(file, 'utf8');
    const script = readScript(text);
    const directory = mkdtempSync('/tmp/obsiac-bad-input-');
    const backend = await startBackend(script);
    try {
      writeFileSync(path.join(directory, 'model.yaml'), MODEL);
      writeFileSync(path.join(directory, 'config.json'), CONFIG);
      makeFiles(script, directory);
      const needsNobody = /^make: unreadable /m.test(script.head);
      const results = await runScript(script, {
        directory,
        env: backend.env,
        run: (argv, env) => (needsNobody ? runAsNobody(argv, directory, env) : runCli(argv, { cwd: directory, env })),
        normalise: (output) => normalise(output, directory),
      });
      const printed = results.join('\n');
      context.expect(printed).not.toMatch(/^[>!]\s+at .*:\d+:\d+\)?$/m);
      context.expect(printed).not.toMatch(/s3cr3t/);
      context.expect(printed).not.toMatch(/^= 255$/m);
      const written = writeScript(script, results);
      if (process.env['UPDATE'] === '1') {
        writeFileSync(file, written);
      } else {
        context.expect(written).toBe(text);
      }
    } finally {
      await backend.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
