/** SHA-256, which the pure packages get passed in. */
import { createHash } from 'node:crypto';

/** Of the UTF-8 bytes of a text, in lower-case hex. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
