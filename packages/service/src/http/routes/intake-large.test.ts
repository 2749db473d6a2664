/** A batch of a million records, the most that a Logpush job sends at once, over real HTTP. */
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gzipHeaders, type LogService, startLogService } from '../../../test/logs.ts';

const RECORDS = 1_000_000;
const FIRST = 1_506_702_504_000_000_000n;

let service: LogService;
beforeAll(async () => {
  service = await startLogService();
});
afterAll(() => service.stop());

/** A hundred pieces, each the lines that `make` gives for its number, compressed. */
async function compressed(make: (piece: number) => readonly string[]): Promise<Buffer> {
  const gzip = createGzip({ level: 1 });
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  for (let piece = 0; piece < 100; piece += 1) {
    await new Promise((resolve) => gzip.write(`${make(piece).join('\n')}\n`, resolve));
  }
  await new Promise((resolve) => gzip.once('end', resolve).end());
  return Buffer.concat(chunks);
}

/** Each record has a ray id and a time of its own. `bad` are put between them. */
function batch(bad: readonly string[]): Promise<Buffer> {
  const step = RECORDS / 100;
  return compressed((piece) => {
    const lines = Array.from({ length: step }, (_, index) => line(piece * step + index));
    return piece === 0 ? [...lines, ...bad] : lines;
  });
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

it('of long lines is stored whole with as little memory', { timeout: 280_000 }, async () => {
  const agent = (index: number) => (index % 977).toString(36).padEnd(2000, 'x');
  const long = (index: number) =>
    `{"ClientRequestHost":"long.example.com","ClientRequestUserAgent":"${agent(index)}","EdgeStartTimestamp":${FIRST},"RayID":"${index}"}`;
  const body = await compressed((piece) => Array.from({ length: 1600 }, (_, index) => long(piece * 1600 + index)));
  const answer = await service.deliver('/cloudflare', body, gzipHeaders(service.access));
  expect([answer.status, answer.body]).toEqual([200, { accepted: 160_000, rejected: 0 }]);
  const count =
    "SELECT toString(uniqExact(RayID)) AS count FROM obsiac.logs WHERE ClientRequestHost = 'long.example.com'";
  expect(await service.rows(count)).toEqual([{ count: '160000' }]);
});
