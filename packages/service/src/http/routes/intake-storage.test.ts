/** Intake when storage is short, absent or restarted: nothing acknowledged is lost, and senders are told to come again. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type LogService, ndjson, startLogService } from '../../../test/logs.ts';
import { createEngineSupervisor } from '../../engine/index.ts';

let service: LogService | undefined;
const directories: string[] = [];
afterEach(async () => {
  await service?.stop({ keep: true });
  for (const directory of [service?.dataDir, ...directories.splice(0)]) {
    if (directory) rmSync(directory, { recursive: true, force: true });
  }
  service = undefined;
});

let number = 0;
/** Records that do not compress. */
function batch(records: number, bytes = 1000) {
  const ids = Array.from({ length: records }, () => `r${++number}`);
  const noise = () => Array.from({ length: bytes / 8 }, () => Math.random().toString(36).slice(2, 10)).join('');
  return { ids, lines: ids.map((RayID) => ({ RayID, EdgeResponseStatus: 200, ClientRequestUserAgent: noise() })) };
}
const found = async (running: LogService) =>
  (await running.rows<{ RayID: string }>('SELECT RayID FROM obsiac.logs')).map((row) => row.RayID).sort();

describe('a full spool', () => {
  it('is answered 503 with Retry-After, and intake goes on when there is room again', async () => {
    service = await startLogService({ settings: { spool_limit: 1_048_576 } });
    const { store } = service.app.logs!;
    await store.whenReady();
    const kept: string[] = [];
    let refused = 0;
    for (let round = 0; round < 40; round += 1) {
      const { ids, lines } = batch(200);
      const answer = await service.push(lines, '?dataset=http_requests');
      if (answer.status === 200) kept.push(...ids);
      else {
        refused += 1;
        expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
    }
    expect(refused).toBeGreaterThan(0);
    await store.loaded();
    const { ids, lines } = batch(10);
    expect((await service.push(lines, '?dataset=http_requests')).status).toBe(200);
    expect(await found(service)).toEqual([...kept, ...ids].sort());
  });
});

describe('a full disk', () => {
  it('is answered 503, and intake goes on without a restart when there is room again', async (context) => {
    const disk = mkdtempSync(path.join(tmpdir(), 'obsiac-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', disk], { stdio: 'ignore' });
    } catch {
      rmSync(disk, { recursive: true });
      context.skip('a file system of its own can only be mounted by root');
    }
    try {
      const dataDir = path.join(disk, 'data');
      mkdirSync(dataDir);
      service = await startLogService({ dataDir, settings: { disk_reserve: 0 } });
      await service.app.logs!.store.whenReady();
      const first = batch(50);
      expect((await service.push(first.lines, '?dataset=http_requests')).status).toBe(200);
      expect(await found(service)).toEqual(first.ids.sort());
      const ballast = path.join(disk, 'ballast');
      fill(ballast);
      const second = batch(50);
      const answer = await service.push(second.lines, '?dataset=http_requests');
      expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
      expect(answer.headers.get('retry-after')).not.toBeNull();
      rmSync(ballast);
      expect((await service.push(second.lines, '?dataset=http_requests')).status).toBe(200);
      expect(await found(service)).toEqual([...first.ids, ...second.ids].sort());
      await service.stop({ keep: true });
      service = undefined;
    } finally {
      await service?.stop({ keep: true });
      service = undefined;
      execFileSync('umount', [disk]);
      rmSync(disk, { recursive: true });
    }
  });

  /** Writes until nothing more fits. */
  function fill(file: string): void {
    const block = Buffer.alloc(256 * 1024, 1);
    try {
      for (;;) writeFileSync(file, block, { flag: 'a' });
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
    try {
      for (;;) writeFileSync(file, block.subarray(0, 512), { flag: 'a' });
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
  }
});

describe('the service', () => {
  it('takes batches while the engine starts, and has them after a stop before it was ready', async () => {
    const first = await startLogService();
    const { ids, lines } = batch(20);
    const answer = await first.push(lines, '?dataset=http_requests');
    expect(answer.body).toEqual({ accepted: 20, rejected: 0 });
    expect((await first.fetch('GET', '/readyz')).body).toMatchObject({ status: 'ready', logs: { spool: {} } });
    await first.stop({ keep: true });
    service = await startLogService({ dataDir: first.dataDir });
    expect(await found(service)).toEqual(ids.sort());
    // A batch is known again after a restart.
    expect((await service.push(lines, '?dataset=http_requests')).body).toEqual({ accepted: 20, rejected: 0 });
    expect(await found(service)).toEqual(ids.sort());
  });

  it('answers while the engine cannot be started, says so, and uses it as soon as it can', async () => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'obsiac-held-'));
    directories.push(dataDir);
    // Another process has the engine's data directory.
    const holder = createEngineSupervisor({
      dataDirectory: path.join(dataDir, 'logs', 'engine'),
      backupDirectory: path.join(dataDir, 'logs', 'backups'),
      memoryLimit: 536_870_912,
      log: { info: () => undefined, warn: () => undefined },
    });
    holder.start();
    await holder.whenReady();
    service = await startLogService({ dataDir });
    const { ids, lines } = batch(5);
    expect((await service.call('read', 'GET', '/entities')).status).toBe(200);
    expect((await service.push(lines, '?dataset=http_requests')).body).toEqual({ accepted: 5, rejected: 0 });
    const search = { query: '', from: 'now-1h', to: 'now' };
    const refused = await service.call('read', 'POST', '/logs/query', { body: search });
    expect([refused.status, refused.body.code]).toEqual([503, 'unavailable']);
    const readiness = async () => (await service!.fetch('GET', '/readyz')).body;
    expect(await readiness()).toMatchObject({ status: 'ready', logs: { spool: { records: 5 } } });
    expect((await readiness()).logs.state).not.toBe('ready');
    await holder.stop();
    expect(await found(service)).toEqual(ids.sort());
    expect(await readiness()).toMatchObject({ status: 'ready', logs: { state: 'ready', spool: { records: 0 } } });
  });

  it('refuses with 503 when there is no memory for more batches', async () => {
    service = await startLogService({ settings: { intake_memory: 4_194_304 } });
    const body = gzipSync(ndjson(batch(7500).lines), { level: 1 });
    expect(body.length).toBeGreaterThan(4_194_304);
    const answer = await service.deliver('/cloudflare', body);
    expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
    expect(answer.headers.get('retry-after')).not.toBeNull();
    const together = await Promise.all(
      Array.from({ length: 12 }, () => service!.push(batch(1000).lines, '?dataset=http_requests')),
    );
    expect(new Set(together.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await service.fetch('GET', '/metrics')).text).toMatch(/obsiac_intake_memory_bytes 0\n/);
  });

  it('keeps what it was given in files that only its owner reads', async () => {
    service = await startLogService();
    await service.push(['no json', ...batch(1).lines]);
    for (const file of ['intake.json', 'logs/rejects/rejects.ndjson']) {
      expect(statSync(path.join(service.dataDir, file)).mode & 0o077).toBe(0);
    }
  });
});
