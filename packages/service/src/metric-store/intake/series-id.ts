/** The number of a series: the same for the same labels, on every machine, for good. */
import { hash } from 'node:crypto';
import type { IncomingSeries } from '../incoming.ts';

export const ID_BYTES = 16;
const NAME_BYTES = 4;

/**
 * 16 bytes, a little-endian UInt128 for the engine: 96 bits of a hash of all labels below 32 bits of a hash of the metric's name, so that
 * the series of a metric lie next to one another. At a hundred million series the odds of two equal numbers are about 10^-13.
 */
export function seriesId(labels: IncomingSeries['labels']): Buffer {
  let text = '';
  let metric = '';
  // Lengths in front keep the text unambiguous whatever characters a value holds.
  for (const [name, value] of labels) {
    if (name === '__name__') metric = value;
    text += `${name.length}:${name}${value.length}:${value}`;
  }
  const id = hash('sha256', text, 'buffer').subarray(0, ID_BYTES);
  hash('sha256', metric, 'buffer').copy(id, ID_BYTES - NAME_BYTES, 0, NAME_BYTES);
  return id;
}
