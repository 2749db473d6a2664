/** Log intake over real HTTP, with the real engine behind it. */

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LogService, ndjson, post, startLogService } from '../../../test/logs.ts';

let service: LogService;
beforeAll(async () => {
  service = await startLogService();
});
afterAll(() => service.stop());

let rayNumber = 0;
const rayId = () => (rayNumber++).toString(16).padStart(16, '0');
const httpRequest = (change: Record<string, unknown> = {}) => ({
  ClientIP: '203.0.113.7',
  ClientRequestHost: 'shop.example.com',
  ClientRequestMethod: 'GET',
  ClientRequestURI: '/cart?id=1',
  EdgeResponseStatus: 200,
  EdgeStartTimestamp: '2026-11-21T08:52:41Z',
  RayID: rayId(),
  ...change,
});

describe('a batch', () => {
  it('is stored, and counted in the answer', async () => {
    const ray = rayId();
    const answer = await service.push([httpRequest({ RayID: ray }), httpRequest()]);
    expect([answer.status, answer.body]).toEqual([200, { accepted: 2, rejected: 0 }]);
    const [row] = await service.rows(
      `SELECT dataset, body, toString(EdgeResponseStatus) AS status FROM obsiac.logs WHERE RayID = '${ray}'`,
    );
    expect(row).toEqual({
      dataset: 'http_requests',
      body: `GET shop.example.com/cart?id=1 200 203.0.113.7 ${ray}`,
      status: '200',
    });
  });
});

describe('the destination check', () => {
  it.each(['{"content":"tests"}', '{"content":"test"}', 'test', 'tests\n', '{"content": "tests"}\n'])(
    '%j is answered 200 and stored nowhere',
    async (text) => {
      for (const body of [gzipSync(text), text]) {
        const answer = await service.deliver('/cloudflare?dataset=http_requests', body);
        expect([answer.status, answer.body]).toEqual([200, { accepted: 0, rejected: 0 }]);
      }
    },
  );

  it('needs credentials', async () => {
    const answer = await post(`${service.access.endpoint}/cloudflare`, gzipSync('test'));
    expect([answer.status, answer.body.code, answer.headers.get('www-authenticate')]).toEqual([
      401,
      'no_credentials',
      'Basic realm="obsiac"',
    ]);
  });
});

it('ndjson', () => expect(ndjson(['a', { b: 1 }])).toBe('a\n{"b":1}\n'));
