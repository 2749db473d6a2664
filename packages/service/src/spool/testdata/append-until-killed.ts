/** Appends batches to the spool of argv[2] and prints the hash of each that is acknowledged, until it is killed. */
import { createHash, randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { openSpool } from '../spool.ts';

const spool = await openSpool({ directory: process.argv[2] as string, maxBytes: 1e9, segmentBytes: 200_000 });
async function sender(): Promise<never> {
  for (;;) {
    const body = randomBytes(1 + Math.floor(Math.random() * 20_000));
    const hash = createHash('sha256').update(body).digest('hex');
    await spool.append([body.subarray(0, 10), body.subarray(10)], {
      org: 'main',
      dataset: 'd',
      receivedAt: '1',
      storedAt: '1',
      hash,
      contentEncoding: 'identity',
      form: 'lines',
      records: 1,
      plainBytes: body.length,
    });
    writeSync(1, `${hash}\n`);
  }
}
writeSync(1, 'ready\n');
await Promise.all([sender(), sender(), sender(), sender()]);
