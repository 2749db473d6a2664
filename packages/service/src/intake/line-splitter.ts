/** Cuts chunks of bytes into lines; only those that lie across two chunks are copied. */
import { isUtf8 } from 'node:buffer';

export interface LineReader {
  /** A line from `start` to `end` of `bytes`, its line feed left out. `valid`: it is good UTF-8. */
  line(bytes: Buffer, start: number, end: number, valid: boolean): void;
  /** A line longer than the limit. `head`: how it begins. */
  tooLong(head: Buffer, length: number): void;
}

const LINE_FEED = 0x0a;
/** Bytes that are kept of a line that is too long. */
const HEAD_BYTES = 4096;

export class LineSplitter {
  readonly #reader: LineReader;
  readonly #limit: number;
  #rest: Buffer[] = [];
  #restBytes = 0;

  /** @param limit longest line in bytes. */
  constructor(reader: LineReader, limit: number) {
    this.#reader = reader;
    this.#limit = limit;
  }

  /** Takes the next chunk, which may be changed afterwards. */
  push(chunk: Buffer): void {
    let start = 0;
    let end = chunk.indexOf(LINE_FEED);
    if (this.#restBytes > 0 && end >= 0) {
      this.#keep(chunk.subarray(0, end));
      this.#takeRest();
      start = end + 1;
      end = chunk.indexOf(LINE_FEED, start);
    }
    const last = chunk.lastIndexOf(LINE_FEED);
    // One check for all lines of the chunk: a check for each would cost more than the rest of the work.
    const valid = end < 0 || isUtf8(chunk.subarray(start, last));
    while (end >= 0) {
      this.#give(chunk, start, end, valid);
      start = end + 1;
      end = chunk.indexOf(LINE_FEED, start);
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** What came after the last line feed is a line too. */
  end(): void {
    if (this.#restBytes > 0) this.#takeRest();
  }

  #give(bytes: Buffer, start: number, end: number, allValid: boolean): void {
    const length = end - start;
    if (length > this.#limit) this.#reader.tooLong(bytes.subarray(start, start + HEAD_BYTES), length);
    else this.#reader.line(bytes, start, end, allValid || isUtf8(bytes.subarray(start, end)));
  }

  #keep(part: Buffer): void {
    // Of a line that is too long already only the length matters.
    if (this.#restBytes <= this.#limit) this.#rest.push(Buffer.from(part));
    this.#restBytes += part.length;
  }

  #takeRest(): void {
    const [parts, length] = [this.#rest, this.#restBytes];
    this.#rest = [];
    this.#restBytes = 0;
    const bytes = Buffer.concat(parts);
    if (length > this.#limit) this.#reader.tooLong(bytes.subarray(0, HEAD_BYTES), length);
    else this.#give(bytes, 0, bytes.length, false);
  }
}
