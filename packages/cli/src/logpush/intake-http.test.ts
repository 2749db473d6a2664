import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { type Reply, type SeenRequest, type StubServer, startStub } from '../../test/cloudflare-api.ts';
import { basicAuthorization, destinationOf } from './destination.ts';
import { IntakeError, openIntake, retryAfterMs } from './intake-http.ts';

const authorization = basicAuthorization({ username: 'edge', password: 'p+a/s=s' });
const stored: Reply = { body: '{"accepted":2,"rejected":1}' };

let server: StubServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function send(
  reply: (request: SeenRequest, index: number) => Reply | null,
  { patienceMs = 10_000, signal = new AbortController().signal } = {},
) {
  server = await startStub(reply);
  const waits: number[] = [];
  const sender = openIntake({
    destination: destinationOf(server.origin, authorization, 'dns_logs'),
    authorization,
    signal,
    patienceMs,
    onWait: (ms) => waits.push(ms),
  });
  try {
    return {
      outcome: await sender.send('{"a":1}\n{"a":2}\n').catch((error: unknown) => error),
      waits,
      seen: server.seen,
    };
  } finally {
    await sender.close();
  }
}

test('uploads as Logpush does', async () => {
  const { outcome, seen } = await send(() => stored);
  expect(outcome).toMatchObject({ status: 200, accepted: 2, rejected: 1, bytes: seen[0]?.body.length });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    method: 'POST',
    url: `/cloudflare?header_Authorization=${encodeURIComponent(authorization)}&dataset=dns_logs`,
  });
  expect(seen[0]?.headers).toMatchObject({ authorization, 'content-encoding': 'gzip' });
  expect(gunzipSync(seen[0]?.body as Buffer).toString()).toBe('{"a":1}\n{"a":2}\n');
});

describe('waits', () => {
  test('as long as Retry-After asks, and sends the same body again', async () => {
    const { outcome, waits, seen } = await send((_, index) =>
      index < 2 ? { status: 503, headers: { 'retry-after': '0.05' }, body: '{"error":"full"}' } : stored,
    );
    expect(outcome).toMatchObject({ accepted: 2 });
    expect(waits).toEqual([50, 50]);
    expect(seen[2]?.body.equals(seen[0]?.body as Buffer)).toBe(true);
  });

  test('after a cut connection, once something answered', async () => {
    const replies: (Reply | null)[] = [{ status: 503, headers: { 'retry-after': '0' }, body: '' }, null, stored];
    const { outcome, seen } = await send((_, index) => replies[index] ?? null);
    expect(outcome).toMatchObject({ accepted: 2 });
    expect(seen).toHaveLength(3);
  });

  test('not longer than it has patience', async () => {
    const { outcome, seen } = await send(() => ({
      status: 503,
      headers: { 'retry-after': '60' },
      body: '{"error":"full"}',
    }));
    expect(outcome).toBeInstanceOf(IntakeError);
    expect(outcome).toMatchObject({ code: 'intake_overloaded', detail: 'It answered 503. It said: full.' });
    expect(seen).toHaveLength(1);
  });

  test('until it is interrupted', async () => {
    const controller = new AbortController();
    const { outcome } = await send(
      () => {
        setImmediate(() => controller.abort());
        return { status: 503, headers: { 'retry-after': '5' }, body: '' };
      },
      { signal: controller.signal },
    );
    expect((outcome as Error).name).toBe('AbortError');
  });
});

describe('refusals', () => {
  test.each([
    [401, 'intake_credentials_refused'],
    [403, 'intake_credentials_refused'],
    [302, 'intake_refused'],
    [400, 'intake_refused'],
    [404, 'intake_not_found'],
    [413, 'intake_refused'],
    [500, 'intake_failed'],
  ])('%i is final: %s', async (status, code) => {
    const body = `{"error":"no, not ${status}"}`;
    const { outcome, seen } = await send(() => ({ status, headers: { location: '/elsewhere' }, body }));
    expect(outcome).toMatchObject({ name: 'IntakeError', code });
    expect(JSON.stringify([outcome, (outcome as Error).message])).not.toContain(authorization.slice(6));
    expect(seen).toHaveLength(1);
  });

  test('an address where nothing listens is not tried again', async () => {
    const gone = await startStub(() => stored);
    await gone.close();
    const sender = openIntake({
      destination: destinationOf(gone.origin, authorization),
      authorization,
      signal: new AbortController().signal,
      patienceMs: 600_000,
    });
    await expect(sender.send('x\n')).rejects.toMatchObject({
      code: 'intake_unreachable',
      detail: /Nothing listens there/,
    });
    await sender.close();
  });

  test('plain HTTP where TLS is expected', async () => {
    const plain = await startStub(() => stored);
    const sender = openIntake({
      destination: destinationOf(plain.origin.replace('http:', 'https:'), authorization),
      authorization,
      signal: new AbortController().signal,
      patienceMs: 0,
    });
    await expect(sender.send('x\n')).rejects.toMatchObject({ detail: /does not speak TLS/ });
    await sender.close();
    await plain.close();
  });
});

test.each([
  ['3', 3000],
  ['0.5', 500],
  ['Thu, 01 Jan 1970 00:00:10 GMT', 9000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['999999', 1_800_000],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %s', (value, expected) => {
  expect(retryAfterMs(value, 1000)).toBe(expected);
});
