import { accessTokenResponse } from '@obsiac/api';
import { decodeJwt, SignJWT } from 'jose';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { BACKENDS, cannotRun, entityBody, type Service, startService, stopDatabases } from '../../test/service.ts';
import { revokeRefreshToken } from '../metadata/refresh-tokens.ts';

afterAll(stopDatabases);

const HOUR = 3_600_000;
const ORGANIZATION = '/api/v4/organizations/default';
let open: Service[] = [];

async function start(options: Parameters<typeof startService>[0] = {}): Promise<Service> {
  const service = await startService(options);
  open.push(service);
  return service;
}
afterEach(async () => {
  for (const service of open.toReversed()) await service.stop();
  open = [];
});

async function revoke(service: Service, name: string): Promise<void> {
  const store = await service.openStore();
  const organization = await store.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow();
  await revokeRefreshToken(store.db, { organizationId: organization.id, actor: 'test', now: 1 }, name);
  await store.db.destroy();
}

describe('the token exchange', () => {
  it('gives an hour, the same refresh token, and the claims that clients read', async () => {
    const now = 1_800_000_000_000;
    const service = await start({ now: () => now });
    const answer = await service.exchange(service.refreshTokens.write);
    expect(answer.status).toBe(200);
    expect(accessTokenResponse.parse(answer.body)).toEqual({
      access_token: expect.any(String),
      refresh_token: service.refreshTokens.write,
      issued_at: now / 1000,
      expires_at: now / 1000 + 3600,
      type: 'Bearer',
      scopes: ['write'],
    });
    expect(decodeJwt(answer.body.access_token)).toMatchObject({
      organization_slug: 'default',
      aud: ['127.0.0.1'],
      iat: now / 1000,
      exp: now / 1000 + 3600,
      scopes: ['write'],
      sub: expect.any(String),
      jti: expect.any(String),
    });
    expect(service.refreshTokens.write).toMatch(/^obs_write_[A-Za-z0-9_-]{43}$/);
  });

  it('takes a grant type and needs none, and refuses what it has not issued', async () => {
    const service = await start();
    const body = { refresh_token: service.refreshTokens.read, grant_type: 'refresh_token' };
    expect((await service.fetch('POST', '/api/v4/oauth/access_token', { body })).status).toBe(200);
    const garbage = await service.exchange('garbage');
    expect(garbage.status).toBe(400);
    expect(garbage.body).toMatchObject({
      code: 'invalid_refresh_token',
      error: expect.stringMatching(/^invalid refresh token:/),
    });
    const missing = await service.fetch('POST', '/api/v4/oauth/access_token', { body: {} });
    expect(missing.body).toMatchObject({ code: 'bad_request', details: [{ path: 'body.refresh_token' }] });
    const access = await service.exchange(service.tokens.read);
    expect(access.body.code).toBe('invalid_refresh_token');
  });

  it('notes when a token was last used', async () => {
    const service = await start({ now: () => 1_800_000_000_000 });
    const store = await service.openStore();
    const used = await store.db.selectFrom('refresh_tokens').select('last_used_at').execute();
    await store.db.destroy();
    expect(used).toEqual([1, 2, 3].map(() => ({ last_used_at: 1_800_000_000 })));
  });

  it('has a limit of its own for each address', async () => {
    const service = await start({ settings: { exchange_rate_limit: 5 } });
    const answers = [];
    for (let index = 0; index < 4; index += 1) answers.push(await service.exchange('garbage'));
    expect(answers.map((answer) => answer.status)).toEqual([400, 400, 429, 429]);
    const [, , limited] = answers;
    expect(limited!.body.code).toBe('rate_limited');
    expect(Number(limited!.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await service.call('read', 'GET', '')).status).toBe(200);
  });
});

describe('an access token', () => {
  it('is taken from either header, with Bearer in any case', async () => {
    const service = await start();
    const token = service.tokens.read;
    const get = (headers: Record<string, string>) => service.fetch('GET', ORGANIZATION, { headers });
    expect((await get({ 'X-LAST9-API-TOKEN': `Bearer ${token}` })).status).toBe(200);
    expect((await get({ authorization: `bearer ${token}` })).status).toBe(200);
    // The service's own header decides when both are there.
    expect((await get({ 'x-last9-api-token': `Bearer ${token}`, authorization: 'Basic abc' })).status).toBe(200);
    const bare = await get({ 'x-last9-api-token': token });
    expect([bare.status, bare.body.error]).toEqual([400, 'invalid access token']);
    const none = await get({});
    expect([none.status, none.body.code]).toEqual([401, 'no_credentials']);
    expect(none.headers.get('www-authenticate')).toBe('Bearer');
    expect((await get({ authorization: 'Basic dXNlcjpwYXNz' })).body.code).toBe('no_credentials');
    expect((await get({ authorization: 'Bearer a.b.c' })).body.code).toBe('token_invalid');
    expect((await get({ authorization: `Bearer ${service.refreshTokens.read}` })).body.code).toBe('token_invalid');
  });

  it('ends after an hour, not before, also when it has been seen', async () => {
    let now = 1_800_000_000_000;
    const service = await start({ now: () => now });
    now += HOUR - 1;
    expect((await service.call('read', 'GET', '')).status).toBe(200);
    now += 1;
    for (const scope of ['read', 'write'] as const) {
      const answer = await service.call(scope, 'GET', '');
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({ error: 'Authorization token is expired', code: 'token_expired' });
    }
  });

  it('cannot be made by anyone else', async () => {
    const service = await start();
    const claims = decodeJwt(service.tokens.read);
    const forge = (alg: string, key: Uint8Array) => new SignJWT(claims).setProtectedHeader({ alg }).sign(key);
    const forged = await forge('HS256', new Uint8Array(32));
    const get = (token: string) => service.fetch('GET', ORGANIZATION, { token });
    expect((await get(forged)).body.code).toBe('token_invalid');
    const [header, payload, signature] = service.tokens.read.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    expect((await get(`${none}.${payload}.`)).body.code).toBe('token_invalid');
    const other = Buffer.from(JSON.stringify({ ...claims, scopes: ['delete'] })).toString('base64url');
    expect((await get(`${header}.${other}.${signature}`)).body.code).toBe('token_invalid');
  });

  it('is good for one installation only', async () => {
    const [one, two] = [await start(), await start()];
    const answer = await two.fetch('GET', ORGANIZATION, { token: one.tokens.read });
    expect(answer.body.code).toBe('token_invalid');
  });
});

describe.each(BACKENDS.map((backend) => ({ backend })))('revocation on $backend', ({ backend }) => {
  it.skipIf(cannotRun(backend))('ends the refresh token and its access tokens at once, and no other', async () => {
    const service = await start({ backend });
    const before = (await service.call('read', 'GET', '')).body.revision;
    expect((await service.call('write', 'GET', '')).status).toBe(200);
    await revoke(service, 'first-start-write');
    const answer = await service.call('write', 'POST', '/entities', entityBody());
    expect([answer.status, answer.body.code]).toEqual([401, 'token_revoked']);
    const exchange = await service.exchange(service.refreshTokens.write);
    expect([exchange.status, exchange.body.code]).toEqual([401, 'token_revoked']);
    const read = await service.call('read', 'GET', '');
    expect([read.status, read.body.revision]).toEqual([200, before]);
    const { entries } = (await service.call('read', 'GET', '/audit_trail?kind=token')).body;
    expect(entries[0]).toMatchObject({ action: 'revoke', object_name: 'first-start-write', actor: 'test' });
    expect(JSON.stringify(entries)).not.toContain('hash');
  });
});

describe.skipIf(cannotRun('postgresql'))('two processes over one PostgreSQL', () => {
  it('take each other tokens, see each other revocations, and count one revision', async () => {
    const secret_key = Buffer.alloc(32, 7).toString('base64');
    const one = await start({ backend: 'postgresql', settings: { secret_key } });
    const twoOptions = { databaseUrl: one.databaseUrl, settings: { secret_key } };
    await expect(start(twoOptions)).rejects.toThrow();
    const two = await startSecond(one, secret_key);
    const token = one.tokens.write;
    const made = await two.fetch('POST', `${ORGANIZATION}/entities`, { token, body: entityBody() });
    expect(made.status).toBe(200);
    expect((await one.call('read', 'GET', '/entities')).body.entities).toEqual([made.body]);
    const writes = Array.from({ length: 40 }, (_, index) =>
      (index % 2 ? one.origin : two.origin).concat(`${ORGANIZATION}/entities/${made.body.id}/alert-rules/snooze`),
    );
    const start0 = (await one.call('read', 'GET', '')).body.revision;
    const statuses = await Promise.all(
      writes.map(async (url, index) => {
        const headers = { 'x-last9-api-token': `Bearer ${token}`, 'content-type': 'application/json' };
        return (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ until: index }) })).status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await two.fetch('GET', ORGANIZATION, { token })).body.revision).toBe(start0 + writes.length);
    await revoke(one, 'first-start-write');
    expect((await two.fetch('GET', ORGANIZATION, { token })).body.code).toBe('token_revoked');
  });

  /** A second process has no `config.json`: it finds the organisation made. */
  async function startSecond(one: Service, secret_key: string) {
    const { createApp } = await import('../app.ts');
    const { settingsSchema } = await import('../settings/definition.ts');
    const { temporaryDir } = await import('../../test/service.ts');
    const lines: string[] = [];
    const settings = settingsSchema.parse({
      data_dir: temporaryDir(),
      port: 0,
      database_url: one.databaseUrl,
      secret_key,
    });
    const app = createApp(settings, { logTo: { write: (line) => void lines.push(line) } });
    const { origin } = await app.start();
    expect(lines.join('')).toContain('no configuration file here');
    const second = {
      ...one,
      origin,
      fetch: async (method: string, path: string, call: { token: string; body?: unknown }) => {
        const response = await fetch(origin + path, {
          method,
          headers: { 'x-last9-api-token': `Bearer ${call.token}`, 'content-type': 'application/json' },
          ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        });
        // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
        return { status: response.status, body: (await response.json()) as any };
      },
      stop: () => app.stop(),
    };
    open.push(second as unknown as Service);
    return second;
  }
});
