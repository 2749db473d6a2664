import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { type BatchMeta, createLoader, type LoaderOptions, type LoadRequest, openSpool, type Spool } from './index.ts';

const root = mkdtempSync(join(tmpdir(), 'obsiac-spool-test-'));
let folders = 0;
function folder(): string {
  folders += 1;
  return join(root, String(folders));
}
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A file system of one megabyte. */
async function onSmallDisk(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = folder();
  mkdirSync(directory);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]);
  try {
    await work(directory);
  } finally {
    execFileSync('umount', ['-l', directory]);
  }
}

const sha256 = (body: Uint8Array) => createHash('sha256').update(body).digest('hex');

function meta(body: Uint8Array, more: Partial<BatchMeta> = {}): BatchMeta {
  return {
    org: 'main',
    dataset: 'http_requests',
    receivedAt: '1700000000000000001',
    storedAt: '1700000000000000002',
    hash: sha256(body),
    contentEncoding: 'identity',
    form: 'lines',
    records: 1,
    plainBytes: body.length,
    ...more,
  };
}

const batch = (text: string) => Buffer.from(text);
const put = (spool: Spool, text: string, more: Partial<BatchMeta> = {}) =>
  spool.append([batch(text)], meta(batch(text), more));
const bytesOf = (spool: Spool, sequence: number) => buffer(spool.read(sequence));
const texts = async (spool: Spool) =>
  Promise.all([...spool.waiting()].map(async ({ sequence }) => (await bytesOf(spool, sequence)).toString()));
const files = (directory: string) => readdirSync(directory).filter((name) => name.endsWith('.spool'));

describe('the spool', () => {
  it('gives back what it took, in order, after it is opened again', async () => {
    const directory = folder();
    const spool = await openSpool({ directory, maxBytes: 1e9 });
    await Promise.all(['a', 'bb', '', 'c\n'].map((text, index) => put(spool, text, { receivedAt: String(index) })));
    expect(await texts(spool)).toEqual(['a', 'bb', '', 'c\n']);
    expect(spool.status()).toMatchObject({ batches: 4, records: 4, oldestReceivedAt: '0' });
    await spool.close();
    await expect(put(spool, 'late')).rejects.toMatchObject({ code: 'spool_closed' });
    const again = await openSpool({ directory, maxBytes: 1e9 });
    expect(await texts(again)).toEqual(['a', 'bb', '', 'c\n']);
    expect([...again.waiting()].map((item) => item.meta.receivedAt)).toEqual(['0', '1', '2', '3']);
    await again.close();
  });

  it('takes a batch once, while it waits, at the same moment, and after it was loaded and restarted', async () => {
    const directory = folder();
    const spool = await openSpool({ directory, maxBytes: 1e9 });
    expect(await Promise.all([put(spool, 'x'), put(spool, 'x'), put(spool, 'y')])).toEqual([
      { duplicate: false },
      { duplicate: true },
      { duplicate: false },
    ]);
    expect(await put(spool, 'y')).toEqual({ duplicate: true });
    await spool.finish([...spool.waiting()].map(({ sequence }) => sequence));
    expect(files(directory)).toEqual([]);
    expect(await put(spool, 'x')).toEqual({ duplicate: true });
    await spool.close();
    const again = await openSpool({ directory, maxBytes: 1e9 });
    expect(await put(again, 'x')).toEqual({ duplicate: true });
    expect(await put(again, 'z')).toEqual({ duplicate: false });
    expect(await texts(again)).toEqual(['z']);
    await again.close();
  });

  it('forgets only the oldest of the batches that it remembers', async () => {
    const directory = folder();
    const spool = await openSpool({ directory, maxBytes: 1e9, rememberedBatches: 3 });
    for (let n = 0; n < 20; n += 1) {
      await put(spool, `batch ${n}`);
      await spool.finish([...spool.waiting()].map(({ sequence }) => sequence));
    }
    expect(statSync(join(directory, 'seen')).size).toBeLessThanOrEqual(16 * 7);
    expect(await put(spool, 'batch 17')).toEqual({ duplicate: true });
    expect(await put(spool, 'batch 16')).toEqual({ duplicate: false });
    await spool.close();
  });

  it('drops a torn end, wherever it is torn, and nothing else', async () => {
    const directory = folder();
    const spool = await openSpool({ directory, maxBytes: 1e9 });
    for (const text of ['first', 'second', 'third']) await put(spool, text);
    await spool.close();
    const [name] = files(directory);
    const source = join(directory, name as string);
    const size = statSync(source).size;
    const seen = new Set<number>();
    for (let length = 0; length <= size; length += 7) {
      const copy = folder();
      mkdirSync(copy, { recursive: true });
      copyFileSync(source, join(copy, name as string));
      truncateSync(join(copy, name as string), length);
      const torn = await openSpool({ directory: copy, maxBytes: 1e9 });
      const kept = await texts(torn);
      expect(['first', 'second', 'third'].slice(0, kept.length)).toEqual(kept);
      seen.add(kept.length);
      expect(await put(torn, 'new')).toEqual({ duplicate: false });
      expect(await texts(torn)).toEqual([...kept, 'new']);
      await torn.close();
    }
    expect(seen.has(0) && seen.has(1) && seen.has(2)).toBe(true);
  });

  it('drops a batch whose bytes never reached the disk, and keeps those behind it', async () => {
    const directory = folder();
    const spool = await openSpool({ directory, maxBytes: 1e9 });
    for (const text of ['aaaa', 'bbbb', 'cccc']) await put(spool, text);
    await spool.close();
    const path = join(directory, files(directory)[0] as string);
    const bytes = readFileSync(path);
    bytes.fill(0, bytes.indexOf('bbbb'), bytes.indexOf('bbbb') + 4);
    writeFileSync(path, bytes);
    const again = await openSpool({ directory, maxBytes: 1e9 });
    expect(await texts(again)).toEqual(['aaaa', 'cccc']);
    await again.close();
  });

  it('refuses above its size, and takes again when batches were loaded', async () => {
    const spool = await openSpool({ directory: folder(), maxBytes: 20_000 });
    const big = (n: number) => put(spool, String(n).padEnd(4000, 'x'));
    for (const n of [1, 2, 3, 4]) await big(n);
    await expect(big(5)).rejects.toMatchObject({ code: 'spool_full' });
    expect(await put(spool, 'small')).toEqual({ duplicate: false });
    await spool.finish([...spool.waiting()].slice(0, 2).map(({ sequence }) => sequence));
    expect(await big(5)).toEqual({ duplicate: false });
    expect((await texts(spool)).length).toBe(4);
    await spool.close();
  });

  it('refuses when the disk is nearly full', async () => {
    const spool = await openSpool({ directory: folder(), maxBytes: 1e9, minFreeBytes: Number.MAX_SAFE_INTEGER });
    await expect(put(spool, 'x')).rejects.toMatchObject({ code: 'disk_full' });
    expect(spool.status().lastError).toMatch(/nearly full/);
    expect([...spool.waiting()]).toEqual([]);
    await spool.close();
  });

  it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
    'survives a full disk and goes on when there is room, without a restart',
    () =>
      onSmallDisk(async (directory) => {
        const spool = await openSpool({ directory, maxBytes: 1e9, segmentBytes: 300_000 });
        const acknowledged: string[] = [];
        let refused = 0;
        for (let n = 0; n < 30; n += 1) {
          const text = String(n).padEnd(60_000, '.');
          await put(spool, text).then(
            () => acknowledged.push(text),
            (error: { code: string }) => {
              expect(error.code).toBe('disk_full');
              refused += 1;
            },
          );
        }
        expect(refused).toBeGreaterThan(0);
        expect(await texts(spool)).toEqual(acknowledged);
        execFileSync('mount', ['-o', 'remount,size=4m', directory]);
        for (let n = 30; n < 40; n += 1) {
          const text = String(n).padEnd(60_000, '.');
          await put(spool, text);
          acknowledged.push(text);
        }
        await spool.close();
        const again = await openSpool({ directory, maxBytes: 1e9 });
        expect(await texts(again)).toEqual(acknowledged);
        await again.finish([...again.waiting()].map(({ sequence }) => sequence));
        expect(files(directory)).toEqual([]);
        await again.close();
      }),
  );

  it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
    'takes a line of its journal for written only when all of it is, on a disk that fills up in its middle',
    () =>
      onSmallDisk(async (directory) => {
        const spool = await openSpool({ directory, maxBytes: 1e9 });
        const group = { token: 'long', sequences: Array.from({ length: 5000 }, (_, index) => index + 1) };
        const { bavail, bsize } = statfsSync(directory);
        writeFileSync(join(directory, 'filler'), Buffer.alloc((bavail - 2) * bsize));
        await expect(spool.begin(group)).rejects.toMatchObject({ code: 'disk_full' });
        rmSync(join(directory, 'filler'));
        await spool.begin(group);
        await spool.begin({ token: 'next', sequences: [5001] });
        await spool.close();
        const again = await openSpool({ directory, maxBytes: 1e9 });
        expect(again.openGroups().map(({ token }) => token)).toEqual(['long', 'next']);
        await again.close();
      }),
  );

  it('keeps every acknowledged batch through kills at random moments', async () => {
    const directory = folder();
    let acknowledged = 0;
    const expected = new Set<string>();
    for (let round = 0; round < 8; round += 1) {
      const child = spawn(process.execPath, [join(import.meta.dirname, 'testdata/append-until-killed.ts'), directory]);
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk;
      });
      const enough = 20 + round * 60;
      while (output.split('\n').length < enough && child.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 1));
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
      for (const hash of output.split('\n').filter((line) => line.length === 64)) expected.add(hash);
      acknowledged = expected.size;
    }
    expect(acknowledged).toBeGreaterThan(500);
    const spool = await openSpool({ directory, maxBytes: 1e9 });
    const hashes = await Promise.all(
      [...spool.waiting()].map(async ({ sequence }) => sha256(await bytesOf(spool, sequence))),
    );
    expect(new Set(hashes).size).toBe(hashes.length);
    expect([...expected].filter((hash) => !hashes.includes(hash))).toEqual([]);
    await spool.close();
  });
});

describe('the loader', () => {
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const loaderOf = (spool: Spool, insert: LoaderOptions['insert'], more: Partial<LoaderOptions> = {}) =>
    createLoader({
      spool,
      insert,
      quarantineDirectory: join(root, 'quarantine'),
      isLasting: (error) => (error as Error).message === 'lasting',
      whenReady: async () => undefined,
      groupBytes: 1000,
      parallel: 1,
      parallelBytes: 2000,
      log: quiet,
      ...more,
    });
  const collect = async (request: LoadRequest) => {
    const bodies: Buffer[] = [];
    for (const body of request.bodies()) bodies.push(await buffer(body));
    return Buffer.concat(bodies).toString();
  };

  it('groups what belongs together, and marks it so that nothing is sent again', async () => {
    const directory = folder();
    const spool = await openSpool({ directory, maxBytes: 1e9 });
    await put(spool, 'a\n', { fields: ['q'] });
    await put(spool, 'b\n', { dataset: 'dns_logs' });
    await put(spool, 'c\n', { fields: ['r', 'q'] });
    await put(spool, 'd\n', { receivedAt: '1700000011000000000' });
    await put(spool, `${'e'.repeat(999)}\n`);
    const sent: [string, string, readonly string[]][] = [];
    const loader = loaderOf(spool, async (request) => {
      sent.push([request.dataset, (await collect(request)).slice(0, 4), request.fields]);
    });
    loader.start();
    await loader.drained();
    await loader.stop();
    expect(sent).toEqual([
      ['http_requests', 'a\nc\n', ['q', 'r']],
      ['dns_logs', 'b\n', []],
      ['http_requests', 'd\n', []],
      ['http_requests', 'eeee', []],
    ]);
    expect(loader.status()).toMatchObject({ loadedBatches: 5, loadedRecords: 5, quarantinedBatches: 0 });
    expect(files(directory)).toEqual([]);
    await spool.close();
  });

  it('loads two groups at once when both are large, and what is larger than both alone', async () => {
    const spool = await openSpool({ directory: folder(), maxBytes: 1e9 });
    const sizes = [900, 900, 100, 5000, 900, 900];
    for (const [index, size] of sizes.entries()) await put(spool, String(index).padEnd(size, '.'));
    const running: number[] = [];
    const together: number[][] = [];
    const loader = loaderOf(
      spool,
      async ({ plainBytes }) => {
        running.push(plainBytes);
        together.push([...running]);
        await new Promise((resolve) => setTimeout(resolve, 20));
        running.splice(running.indexOf(plainBytes), 1);
      },
      { parallel: 2 },
    );
    loader.start();
    await loader.drained();
    await loader.stop();
    expect(together).toContainEqual([900, 1000]);
    expect(together).toContainEqual([5000]);
    expect(Math.max(...together.filter((each) => each.length > 1).map((each) => each.reduce((a, b) => a + b)))).toBe(
      1900,
    );
    expect(together.flat().filter((bytes) => bytes === 5000).length).toBe(1);
    await spool.close();
  });

  it('reads a batch of many pieces whole, and none of it when it is damaged', async () => {
    const directory = folder();
    const spool = await openSpool({ directory, maxBytes: 1e9 });
    const body = randomBytes(3_500_000);
    await spool.append([body], meta(body));
    const [waiting] = [...spool.waiting()];
    expect((await bytesOf(spool, waiting!.sequence)).equals(body)).toBe(true);
    const [file] = files(directory);
    const damaged = readFileSync(join(directory, file as string));
    damaged[damaged.length - 1] = (damaged.at(-1) as number) ^ 1;
    writeFileSync(join(directory, file as string), damaged);
    const read: Buffer[] = [];
    const reading = (async () => {
      for await (const piece of spool.read(waiting!.sequence)) read.push(piece);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'batch_damaged' });
    expect(read).toEqual([]);
    await spool.close();
  });

  it('sends a group that was not finished again as it was, after a restart too', async () => {
    const directory = folder();
    const spool = await openSpool({ directory, maxBytes: 1e9 });
    await put(spool, 'a');
    await put(spool, 'b');
    const first: LoadRequest[] = [];
    const stuck = loaderOf(spool, async (request, signal) => {
      first.push(request);
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    stuck.start();
    while (first.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await stuck.stop();
    await put(spool, 'c');
    await spool.close();

    const again = await openSpool({ directory, maxBytes: 1e9 });
    const sent: [string, string][] = [];
    const loader = loaderOf(again, async (request) => {
      sent.push([request.token, await collect(request)]);
    });
    loader.start();
    await loader.drained();
    await loader.stop();
    expect(sent).toEqual([
      [first[0]?.token, 'ab'],
      [sha256(batch('c')), 'c'],
    ]);
    await again.close();
  });

  it('tries again what may pass, and sets aside what does not', async () => {
    const spool = await openSpool({ directory: folder(), maxBytes: 1e9 });
    await put(spool, 'good', { dataset: 'one' });
    await put(spool, 'bad', { dataset: 'two' });
    let attempts = 0;
    const loader = loaderOf(spool, async (request) => {
      if (request.dataset === 'two') throw new Error('lasting');
      attempts += 1;
      if (attempts < 3) throw new Error('passing');
    });
    loader.start();
    await loader.drained();
    await loader.stop();
    expect(attempts).toBe(3);
    expect(loader.status()).toMatchObject({ loadedBatches: 1, quarantinedBatches: 1 });
    await spool.close();
    const [name] = files(join(root, 'quarantine'));
    const aside = folder();
    mkdirSync(aside);
    copyFileSync(join(root, 'quarantine', name as string), join(aside, name as string));
    const readable = await openSpool({ directory: aside, maxBytes: 1e9 });
    expect(await texts(readable)).toEqual(['bad']);
    await readable.close();
  });
});
