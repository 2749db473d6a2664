/** Finds out, while a batch is read, whether the store can take it as it was delivered: plain lines of one dataset. */
import { PlainLines } from '../log-store/index.ts';
import type { LineReader } from './line-splitter.ts';
import { datasetOf } from './normalise/record.ts';

export class LineInspector implements LineReader {
  readonly #given: string | undefined;
  #dataset: string | undefined;
  #plain: PlainLines | undefined;
  #asDelivered = true;
  #records = 0;

  /** @param dataset what the sender says; undefined: recognised from the fields. */
  constructor(dataset: string | undefined) {
    this.#given = dataset;
  }

  /** What to store the batch as, or undefined when its lines must be taken one by one. */
  result(): { readonly dataset: string; readonly records: number; readonly fields: readonly string[] } | undefined {
    if (!this.#asDelivered || this.#plain === undefined || this.#dataset === undefined) return undefined;
    return { dataset: this.#dataset, records: this.#records, fields: this.#plain.fields() };
  }

  line(bytes: Buffer, start: number, end: number, valid: boolean): void {
    // The store skips empty lines.
    if (!this.#asDelivered || start === end) return;
    this.#records += 1;
    this.#asDelivered = valid && this.#isPlain(bytes, start, end);
  }

  tooLong(): void {
    this.#asDelivered = false;
  }

  #isPlain(bytes: Buffer, start: number, end: number): boolean {
    if (this.#plain?.repeats(bytes, start, end)) return true;
    const dataset = this.#given ?? recognised(bytes, start, end);
    if (dataset === undefined || (this.#dataset !== undefined && dataset !== this.#dataset)) return false;
    this.#dataset = dataset;
    this.#plain ??= PlainLines.forDataset(dataset);
    return this.#plain?.isPlain(bytes, start, end) ?? false;
  }
}

function recognised(bytes: Buffer, start: number, end: number): string | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8', start, end));
    return typeof value === 'object' && value !== null ? datasetOf(Object.keys(value)) : undefined;
  } catch {
    return undefined;
  }
}
