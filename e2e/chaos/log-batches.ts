/** Batches of http_requests whose records can be counted afterwards: made by changing a few bytes of one batch, so that they cost little. */
import { gzipSync } from 'node:zlib';

export interface NumberedBatch {
  readonly number: number;
  readonly body: Buffer;
}

/** The ray id of a record: eight hex digits of its batch's number and eight of its own. */
const RAY_DIGITS = 16;
const TIME_DIGITS = 19;

/** Makes batches of `records` records of about 1.3 kB, each with ray ids of its own, numbered from 1. */
export function numberedBatches(records: number): () => NumberedBatch {
  const ray = '@'.repeat(RAY_DIGITS);
  const time = '1'.repeat(TIME_DIGITS);
  const lines = Array.from({ length: records }, (_, index) => JSON.stringify(record(index, ray)));
  const template = Buffer.from(`${lines.join('\n').replaceAll('"TIME"', time)}\n`);
  const rays = positionsOf(template, Buffer.from(ray));
  const times = positionsOf(template, Buffer.from(time));
  let number = 0;
  return () => {
    number += 1;
    const batch = number.toString(16).padStart(8, '0');
    const now = `${Date.now()}000000`;
    for (const [index, at] of rays.entries()) template.write(batch + index.toString(16).padStart(8, '0'), at, 'latin1');
    for (const at of times) template.write(now, at, 'latin1');
    return { number, body: gzipSync(template, { level: 1 }) };
  };
}

function positionsOf(text: Buffer, part: Buffer): number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) positions.push(at);
  return positions;
}

function record(index: number, ray: string): object {
  const pick = (values: readonly string[], by = 1) => values[Math.floor(index / by) % values.length];
  return {
    RayID: ray,
    EdgeStartTimestamp: 'TIME',
    CacheCacheStatus: pick(['hit', 'miss', 'dynamic', 'expired']),
    ClientASN: 64500 + (index % 40),
    ClientCountry: pick(['de', 'us', 'in', 'br', 'fr', 'jp'], 3),
    ClientDeviceType: pick(['desktop', 'mobile']),
    ClientIP: `192.0.2.${index % 250}`,
    ClientRequestBytes: 400 + (index % 900),
    ClientRequestHost: pick(['shop.example.com', 'api.example.com', 'www.example.com'], 2),
    ClientRequestMethod: pick(['GET', 'GET', 'POST']),
    ClientRequestPath: `/catalog/items/${(index * 7919) % 5000}`,
    ClientRequestProtocol: pick(['HTTP/2', 'HTTP/1.1', 'HTTP/3']),
    ClientRequestReferer: 'https://shop.example.com/catalog',
    ClientRequestURI: `/catalog/items/${(index * 7919) % 5000}?page=${index % 13}`,
    ClientRequestUserAgent: `Mozilla/5.0 (X11; Linux x86_64; rv:${120 + (index % 9)}.0) Gecko/20100101 Firefox/${120 + (index % 9)}.0`,
    ClientSSLCipher: 'AEAD-AES128-GCM-SHA256',
    ClientSSLProtocol: 'TLSv1.3',
    ClientSrcPort: 20000 + ((index * 31) % 40000),
    EdgeColoCode: pick(['FRA', 'AMS', 'SIN', 'IAD']),
    EdgeResponseBytes: 1000 + ((index * 613) % 90000),
    EdgeResponseContentType: pick(['text/html', 'application/json', 'image/webp']),
    EdgeResponseStatus: index % 50 === 0 ? 503 : index % 17 === 0 ? 404 : 200,
    OriginIP: '198.51.100.7',
    OriginResponseDurationMs: (index * 13) % 700,
    OriginResponseStatus: 200,
    WAFAttackScore: index % 100,
    ZoneName: 'example.com',
  };
}
