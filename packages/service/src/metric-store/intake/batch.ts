/** Turns the requests of a moment into the rows of one insert into each table. */
import { Breather } from '../breather.ts';
import type { IncomingMetadata, IncomingSeries } from '../incoming.ts';
import type { KnownSeries } from './known-series.ts';
import { RowWriter } from './row-writer.ts';
import { seriesId } from './series-id.ts';

export interface WriteRequest {
  /** Id of the organisation. */
  readonly org: string;
  readonly series: readonly IncomingSeries[];
  readonly metadata: readonly IncomingMetadata[];
}

/** The rows of each table in RowBinary, and what to remember once they are stored. */
export interface Batch {
  readonly samples: RowWriter;
  readonly series: RowWriter;
  readonly metadata: RowWriter;
  readonly newSeries: readonly (readonly [day: number, key: string])[];
}

export const DAY_MS = 86_400_000;

/**
 * @param version of the first request's rows; each request, and each repetition of a series in it, takes the next one. The version after
 * the last one that was used comes back.
 */
export async function buildBatch(
  requests: readonly WriteRequest[],
  known: KnownSeries,
  version: number,
): Promise<{ readonly batch: Batch; readonly version: number }> {
  const rows = { samples: new RowWriter(), series: new RowWriter(), metadata: new RowWriter() };
  const breather = new Breather();
  const fresh = new Map<string, readonly [number, string]>();
  let next = version;
  for (const { org, series, metadata } of requests) {
    const versions = new Map<string, number>();
    for (const each of series) {
      const id = seriesId(each.labels);
      const key = `${org} ${id.toString('latin1')}`;
      const own = (versions.get(key) ?? next - 1) + 1;
      versions.set(key, writeSamples(rows.samples, org, id, each, own));
      await breather.pause();
      for (const day of daysOf(each.times)) {
        const mark = `${day} ${key}`;
        if (known.has(day, key) || fresh.has(mark)) continue;
        fresh.set(mark, [day, key]);
        writeSeries(rows.series, org, id, each, day, own);
      }
    }
    for (const each of metadata) writeMetadata(rows.metadata, org, each, next);
    next = Math.max(next, ...versions.values()) + 1;
  }
  return { batch: { ...rows, newSeries: [...fresh.values()] }, version: next };
}

/** The version that the last row took. Of samples of one time in one series the last one counts: each turn back takes a new version. */
function writeSamples(rows: RowWriter, org: string, id: Buffer, series: IncomingSeries, version: number): number {
  const { times, values, stale } = series;
  let own = version;
  for (let index = 0; index < times.length; index += 1) {
    const time = times[index]!;
    if (index > 0 && time <= times[index - 1]!) own += 1;
    rows.text(org);
    rows.raw(id);
    rows.int64(time);
    const marker = stale?.[index] === true;
    rows.float64(marker ? 0 : values[index]!);
    rows.uint8(marker ? 1 : 0);
    rows.int64(own);
  }
  return own;
}

function writeSeries(
  rows: RowWriter,
  org: string,
  id: Buffer,
  { labels }: IncomingSeries,
  day: number,
  version: number,
): void {
  const others = labels.filter(([name]) => name !== '__name__');
  rows.text(org);
  rows.uint16(day);
  rows.text(labels.find(([name]) => name === '__name__')?.[1] ?? '');
  rows.raw(id);
  rows.varint(others.length);
  for (const [name] of others) rows.text(name);
  rows.varint(others.length);
  for (const [, value] of others) rows.text(value);
  rows.int64(version);
}

function writeMetadata(rows: RowWriter, org: string, metadata: IncomingMetadata, version: number): void {
  rows.text(org);
  rows.text(metadata.metric);
  rows.text(metadata.type);
  rows.text(metadata.help);
  rows.text(metadata.unit);
  rows.int64(version);
}

/** Numbers of the days, counted from 1970, that a series has samples in. */
function daysOf(times: readonly number[]): number[] {
  const days: number[] = [];
  for (const time of times) {
    const day = Math.floor(time / DAY_MS);
    if (day !== days[0] && !days.includes(day)) days.unshift(day);
  }
  return days;
}
