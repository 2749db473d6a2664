import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { demonstrateLogs } from './example-logs.ts';

let dataDir: string;
let server: Server;
/** What the service says of itself. */
let ready: object;
let description: string;

beforeEach(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'obsiac-example-logs-'));
  writeFileSync(path.join(dataDir, 'intake.json'), '{}');
  [ready, description] = [{ logs: { state: 'ready' } }, '{"paths":{"/organizations/{org}/logs/query":{}}}'];
  server = createServer((request, response) => {
    response.end(request.url === '/readyz' ? JSON.stringify(ready) : description);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  rmSync(dataDir, { recursive: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function demonstrate(codes: readonly number[] = []) {
  const ran: string[] = [];
  const shown: string[] = [];
  await demonstrateLogs({
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dataDir,
    config: 'config.json',
    obsiac: async (args) =>
      codes[
        ran.push(
          args
            .filter((word) => !/^(-c|config\.json)$/.test(word))
            .slice(0, 2)
            .join(' '),
        ) - 1
      ] ?? 0,
    show: (line = '') => shown.push(line),
  });
  return { ran, shown: shown.join('') };
}

const QUESTIONS = ['logs hits', 'logs query', 'logs facets'];

test('delivers, checks, asks three questions; soon after, only asks', async () => {
  expect((await demonstrate()).ran).toEqual(['logpush simulate', 'logpush check', ...QUESTIONS]);
  expect((await demonstrate()).ran).toEqual(['logpush check', ...QUESTIONS]);
  writeFileSync(path.join(dataDir, 'simulated-until'), `${new Date(Date.now() - 3_600_000).toISOString()}\n`);
  expect((await demonstrate()).ran).toEqual(['logpush simulate', 'logpush check', ...QUESTIONS]);
});

test('stops at what fails, and delivers again the next time', async () => {
  expect((await demonstrate([1])).ran).toEqual(['logpush simulate']);
  expect((await demonstrate([0, 1])).ran).toEqual(['logpush simulate', 'logpush check']);
});

test('a service without logs is told in a line', async () => {
  ready = { logs: { state: 'disabled' } };
  expect(await demonstrate()).toMatchObject({ ran: [], shown: '\nLogs are not shown: the log engine is disabled.' });
  ready = { logs: { state: 'failed', reason: 'this platform has no engine' } };
  expect((await demonstrate()).shown).toContain('this platform has no engine');
  [ready, description] = [{ logs: { state: 'ready' } }, '{}'];
  expect((await demonstrate()).shown).toContain('cannot be searched');
  rmSync(path.join(dataDir, 'intake.json'));
  expect((await demonstrate()).shown).toContain('no intake.json');
});
