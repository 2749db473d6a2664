/** A batch of a million records, the most that a Logpush job sends at once, over real HTTP. */
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gzipHeaders, type LogService, startLogService } from '../../../test/logs.ts';

const RECORDS = 1_000_000;
const FIRST = 1_506_702_504_000_000_000n;

let service: LogService;
beforeAll(async () => {
  service = await startLogService({ settings: { engine_memory: 2_147_483_648 } });
});
afterAll(() => service.stop());

/** Each record has a ray id and a time of its own. `bad` are put between them. */
async function batch(bad: readonly string[]): Promise<Buffer> {
  const gzip = createGzip({ level: 1 });
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  const step = RECORDS / 100;
  for (let from = 0; from < RECORDS; from += step) {
    const lines = Array.from({ length: step }, (_, index) => line(from + index));
    const mixed = from === 0 ? [...lines, ...bad] : lines;
    await new Promise((resolve) => gzip.write(`${mixed.join('\n')}\n`, resolve));
  }
  await new Promise((resolve) => gzip.once('end', resolve).end());
  return Buffer.concat(chunks);
}

function line(index: number): string {
  const time = FIRST + BigInt(index);
  return `{"ClientRequestHost":"shop.example.com","EdgeResponseStatus":200,"EdgeStartTimestamp":${time},"RayID":"${index.toString(16).padStart(16, '0')}"}`;
}

it('is stored whole, each record with its own time to the nanosecond', { timeout: 280_000 }, async () => {
  const body = await batch([]);
  const answer = await service.deliver('/cloudflare', body, gzipHeaders(service.access));
  expect([answer.status, answer.body]).toEqual([200, { accepted: RECORDS, rejected: 0 }]);
  const again = await service.deliver('/cloudflare', body, gzipHeaders(service.access));
  expect(again.body).toEqual({ accepted: RECORDS, rejected: 0 });
  const [row] = await service.rows(
    `SELECT toString(count()) AS count, toString(uniqExact(RayID)) AS rays, toString(uniqExact(timestamp)) AS times,
      toString(toUnixTimestamp64Nano(min(timestamp))) AS first, toString(toUnixTimestamp64Nano(max(timestamp))) AS last
    FROM obsiac.logs WHERE dataset = 'http_requests'`,
  );
  expect(row).toEqual({
    count: String(RECORDS),
    rays: String(RECORDS),
    times: String(RECORDS),
    first: String(FIRST),
    last: String(FIRST + BigInt(RECORDS - 1)),
  });
});

it('with bad lines among them loses only those', { timeout: 280_000 }, async () => {
  const body = await batch(['{"cut', '17']);
  const answer = await service.deliver('/cloudflare?dataset=http_requests', body, gzipHeaders(service.access));
  expect(answer.body).toEqual({ accepted: RECORDS, rejected: 2 });
});
