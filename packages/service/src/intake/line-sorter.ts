/** Takes the lines of a batch one by one: plain ones as they are, others as prepared records, and what is no record as a reject. */
import { isUtf8 } from 'node:buffer';
import { PlainLines } from '../log-store/index.ts';
import type { Lease } from './byte-budget.ts';
import { wrappedRecords } from './document-shape.ts';
import { GzipWriter } from './gzip-writer.ts';
import type { LineReader } from './line-splitter.ts';
import { isObject, type JsonObject, parseExact } from './normalise/exact-json.ts';
import { datasetOf, rowsOf, UNKNOWN_DATASET } from './normalise/record.ts';

export const REJECT_REASONS = ['not_json', 'not_an_object', 'too_long', 'too_deep'] as const;
export type RejectReason = (typeof REJECT_REASONS)[number];

export interface RejectedLine {
  readonly reason: RejectReason;
  readonly detail: string;
  /** How it begins. */
  readonly head: string;
  readonly bytes: number;
}

/** Lines of one dataset that go into the store in the same form. */
export interface SortedPart {
  readonly dataset: string;
  readonly form: 'lines' | 'records';
  readonly records: number;
  readonly plainBytes: number;
  readonly fields?: readonly string[];
  /** Gzip. */
  readonly body: readonly Buffer[];
}

/** Bad lines that are kept of one batch. All are counted. */
const MOST_REJECTS = 100;
const REJECT_HEAD_BYTES = 4096;
const LINE_FEED = Buffer.from('\n');
/** Sets of field names whose dataset is remembered. */
const REMEMBERED_LAYOUTS = 1000;

interface Group {
  readonly plain: PlainLines | undefined;
  lines: Writing | undefined;
  records: Writing | undefined;
}

interface Writing {
  readonly writer: GzipWriter;
  records: number;
  plainBytes: number;
}

export class LineSorter implements LineReader {
  readonly #given: string | undefined;
  readonly #receivedAt: string;
  readonly #lease: Lease;
  readonly #groups = new Map<string, Group>();
  readonly #datasets = new Map<string, string>();
  readonly rejects: RejectedLine[] = [];
  #current: Group | undefined;
  #seen = 0;
  #accepted = 0;
  #rejected = 0;
  #firstRejected = false;
  #lastRejected = '';
  #wrapped: string | undefined;

  /**
   * @param dataset what the sender says; undefined: recognised from the fields of each line
   * @param receivedAt nanoseconds since the Unix epoch
   */
  constructor(dataset: string | undefined, receivedAt: string, lease: Lease) {
    this.#given = dataset;
    this.#receivedAt = receivedAt;
    this.#lease = lease;
  }

  get accepted(): number {
    return this.#accepted;
  }

  get rejected(): number {
    return this.#rejected;
  }

  /** What the batch as a whole may be instead of lines. */
  get badLines() {
    return {
      accepted: this.#accepted,
      rejected: this.#rejected,
      first: this.rejects.map(({ head }) => head),
      last: this.#lastRejected,
      fromStart: this.#firstRejected,
    };
  }

  /** The hint for a batch of one line that holds all records in it. */
  get wrapped(): string | undefined {
    return this.#accepted === 1 && this.#rejected === 0 ? this.#wrapped : undefined;
  }

  line(bytes: Buffer, start: number, end: number, valid: boolean): void {
    if (isBlank(bytes, start, end)) return;
    this.#seen += 1;
    if (valid && this.#current?.plain?.repeats(bytes, start, end)) this.#keepLine(this.#current, bytes, start, end);
    else this.#takeApart(bytes, start, end, valid);
  }

  #takeApart(bytes: Buffer, start: number, end: number, valid: boolean): void {
    const text = bytes.toString('utf8', start, end);
    const record = this.#parse(text, end - start);
    if (record === undefined) return;
    const recognised = this.#datasetOf(record);
    if (this.#seen === 1 && recognised === UNKNOWN_DATASET) this.#wrapped = wrappedRecords(record);
    const dataset = this.#given ?? recognised;
    const group = this.#groupOf(dataset);
    this.#current = group;
    if (valid && group.plain?.isPlain(bytes, start, end)) this.#keepLine(group, bytes, start, end);
    else this.#keepRecord(dataset, group, record, text, bytes.subarray(start, end));
  }

  tooLong(head: Buffer, length: number): void {
    this.#seen += 1;
    this.#reject('too_long', `${length} bytes are more than a line may have`, head.toString('utf8'), length);
  }

  /** Call after each chunk: what was taken from it is then compressed. */
  async flush(): Promise<void> {
    for (const { lines, records } of this.#groups.values()) {
      await lines?.writer.flush();
      await records?.writer.flush();
    }
  }

  async parts(): Promise<SortedPart[]> {
    const parts: SortedPart[] = [];
    for (const [dataset, group] of this.#groups) {
      const { lines, records } = group;
      const fields = group.plain?.fields() ?? [];
      if (lines) parts.push({ dataset, form: 'lines', fields, ...(await finished(lines)) });
      if (records) parts.push({ dataset, form: 'records', ...(await finished(records)) });
    }
    return parts;
  }

  #parse(text: string, length: number): JsonObject | undefined {
    let value: unknown;
    try {
      value = parseExact(text);
    } catch (error) {
      this.#reject('not_json', (error as Error).message, text, length);
      return undefined;
    }
    if (isObject(value)) return value;
    this.#reject('not_an_object', 'a record is a JSON object', text, length);
    return undefined;
  }

  #keepLine(group: Group, bytes: Buffer, start: number, end: number): void {
    group.lines ??= this.#writing();
    group.lines.writer.write(bytes.subarray(start, end));
    group.lines.writer.write(LINE_FEED);
    group.lines.records += 1;
    group.lines.plainBytes += end - start + 1;
    this.#accepted += 1;
  }

  #keepRecord(dataset: string, group: Group, record: JsonObject, text: string, bytes: Buffer): void {
    try {
      const line = isUtf8(bytes) ? { raw: text } : { raw_base64: bytes.toString('base64') };
      const rows = rowsOf(dataset, record, line, this.#receivedAt).map((row) => `${JSON.stringify(row)}\n`);
      const written = Buffer.from(rows.join(''));
      group.records ??= this.#writing();
      group.records.writer.write(written);
      group.records.records += rows.length;
      group.records.plainBytes += written.length;
      this.#accepted += 1;
    } catch (error) {
      // The stack ends before memory does: only a line of thousands of brackets within each other gets here.
      if (!(error instanceof RangeError)) throw error;
      this.#reject('too_deep', 'objects and lists nest too deep', text, bytes.length);
    }
  }

  #reject(reason: RejectReason, detail: string, text: string, bytes: number): void {
    this.#rejected += 1;
    if (this.#seen === 1) this.#firstRejected = true;
    this.#lastRejected = text.slice(-REJECT_HEAD_BYTES);
    if (this.rejects.length >= MOST_REJECTS) return;
    this.rejects.push({ reason, detail, head: text.slice(0, REJECT_HEAD_BYTES), bytes });
  }

  #datasetOf(record: JsonObject): string {
    const names = Object.keys(record);
    const layout = JSON.stringify(names);
    const known = this.#datasets.get(layout);
    if (known !== undefined) return known;
    const dataset = datasetOf(names);
    if (this.#datasets.size < REMEMBERED_LAYOUTS) this.#datasets.set(layout, dataset);
    return dataset;
  }

  #groupOf(dataset: string): Group {
    const known = this.#groups.get(dataset);
    if (known !== undefined) return known;
    const group: Group = { plain: PlainLines.forDataset(dataset), lines: undefined, records: undefined };
    this.#groups.set(dataset, group);
    return group;
  }

  #writing(): Writing {
    return { writer: new GzipWriter(this.#lease), records: 0, plainBytes: 0 };
  }
}

async function finished({ writer, records, plainBytes }: Writing) {
  return { records, plainBytes, body: await writer.end() };
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}
