/**
 * Reads the records of an export page by page, in the order of time and id. Between two pages nothing is open in the engine, so that a client
 * that reads slowly, or stops reading, holds one page of memory and keeps no search waiting.
 */
import { StoreError } from '../store-error.ts';
import type { TimeRange } from './statement.ts';

/** Where a page begins. */
export interface PagePlace extends TimeRange {
  /** Records at `from` with a smaller id have been read. Decimal. */
  readonly id: string | undefined;
  /** Of those with this very instant and id, so many have been read: a line that was delivered twice has one id. */
  readonly skip: number;
  readonly limit: number;
  /** Milliseconds that are left of the export's time. */
  readonly timeout: number;
}

export interface PageKey {
  readonly timestamp: bigint;
  readonly id: string;
}

export interface PageSource<Item> {
  read(place: PagePlace): AsyncIterable<readonly Item[]>;
  key(item: Item): PageKey;
  encode(items: readonly Item[]): Buffer;
}

/** Milliseconds that an export may take. */
export const EXPORT_TIMEOUT = 3_600_000;
const FIRST_ROWS = 500;
const MOST_ROWS = 20_000;
/** Bytes that a page is meant to have, and that it is cut at when its records are much longer than those before. */
const PAGE_BYTES = 4 * 1024 ** 2;
const MOST_PAGE_BYTES = 4 * PAGE_BYTES;
/**
 * A page looks at a stretch of time and not at all that is left: the engine would begin to read each part of the table. Nanoseconds; it
 * grows where little is found.
 */
const FIRST_STRETCH = 60_000_000_000n;
const LEAST_STRETCH = 1_000_000_000n;
const GROWTH = 8n;
/** Milliseconds after which a stretch is long enough. */
const SLOW_PAGE = 2_000;

interface Page {
  readonly body: Buffer;
  readonly records: number;
  readonly last: PageKey | undefined;
  /** Records at the end that have the key of the last one. */
  readonly alike: number;
  /** Broken off since it became too big. */
  readonly cut: boolean;
}

/** @param limit records at most. @throws StoreError, also in the middle */
export async function* exportPages<Item>(
  source: PageSource<Item>,
  range: TimeRange,
  limit: number,
): AsyncGenerator<Buffer> {
  const deadline = Date.now() + EXPORT_TIMEOUT;
  let [from, id, skip] = [range.from, undefined as string | undefined, 0];
  let [rows, stretch, left] = [FIRST_ROWS, FIRST_STRETCH, limit];
  while (from < range.to && left > 0) {
    const begun = Date.now();
    const timeout = deadline - begun;
    if (timeout <= 0) throw new StoreError('query_timeout', 'The export took longer than it may');
    const to = smaller(from + stretch, range.to);
    const asked = Math.min(rows, left);
    const page = await readPage(source, { from, to, id, skip, limit: asked, timeout });
    const { last, records } = page;
    if (records > 0) yield page.body;
    left -= records;
    if (last !== undefined && (page.cut || records === asked)) {
      skip = last.timestamp === from && last.id === id && page.alike === records ? skip + records : page.alike;
      stretch = larger(LEAST_STRETCH, 2n * (last.timestamp - from));
      [from, id] = [last.timestamp, last.id];
    } else {
      [from, id, skip] = [to, undefined, 0];
      if (Date.now() - begun < SLOW_PAGE) stretch *= GROWTH;
    }
    if (records > 0) rows = Math.ceil(Math.min(MOST_ROWS, Math.max(1, (PAGE_BYTES * records) / page.body.length)));
  }
}

async function readPage<Item>(source: PageSource<Item>, place: PagePlace): Promise<Page> {
  const chunks: Buffer[] = [];
  let [bytes, records, alike] = [0, 0, 0];
  let last: PageKey | undefined;
  for await (const items of source.read(place)) {
    for (const item of items) {
      const key = source.key(item);
      alike = last !== undefined && key.timestamp === last.timestamp && key.id === last.id ? alike + 1 : 1;
      last = key;
    }
    const chunk = source.encode(items);
    chunks.push(chunk);
    bytes += chunk.length;
    records += items.length;
    if (bytes >= MOST_PAGE_BYTES) return { body: Buffer.concat(chunks), records, last, alike, cut: true };
  }
  return { body: Buffer.concat(chunks), records, last, alike, cut: false };
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

function smaller(left: bigint, right: bigint): bigint {
  return left > right ? right : left;
}
