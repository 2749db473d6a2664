/** Ids of objects: UUIDs of version 7 (RFC 9562), so that their order is the order of creation. */
import { randomBytes } from 'node:crypto';

let milliseconds = 0;
let counter = 0;

/** A new id, greater than every id this process has made before. */
export function newId(): string {
  const now = Date.now();
  if (now > milliseconds) {
    milliseconds = now;
    counter = 0;
  } else if (counter < 0xfff) {
    counter += 1;
  } else {
    milliseconds += 1;
    counter = 0;
  }
  const time = milliseconds.toString(16).padStart(12, '0');
  const random = randomBytes(8);
  random[0] = (random[0]! & 0x3f) | 0x80;
  const tail = random.toString('hex');
  const count = counter.toString(16).padStart(3, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}
