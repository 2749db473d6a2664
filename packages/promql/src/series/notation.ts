/**
 * Series notation, as in promtool's rule tests: `up{job="api"} 0 1+2x3 _ _x2 stale`. Each item is one or more steps
 * of equal length; `a+bxn` is a and n further values, each b more than the one before.
 */
import type { SeriesData } from '../storage/storage.ts';
import { problemAt, type QueryProblem, SyntaxStop } from '../syntax/problem.ts';
import { readMetric, TextReader } from './label-reader.ts';
import { type Labels, labelsOf } from './labels.ts';

/** The values of a series step by step: undefined where nothing was scraped, `stale` for a staleness marker. */
export type SequenceValue = number | 'stale' | undefined;

export interface SeriesNotation {
  readonly labels: Labels;
  readonly values: readonly SequenceValue[];
}

export interface NotationTiming {
  /** Time of the first value, milliseconds. */
  readonly start: number;
  /** Milliseconds between values. */
  readonly interval: number;
}

export interface ReadSeries {
  readonly series: readonly SeriesData[];
  /** Offsets count in the whole text. A line with a problem gives no series. */
  readonly problems: readonly QueryProblem[];
}

/** A repeat that would make more values than this in one series is refused. */
const MAX_VALUES = 10_000_000;

const BLANK = /_(?:x(\d+))?(?=\s|$)/y;
const STALE = /stale(?=\s|$)/y;
const DECIMAL = '(?:\\d+\\.?\\d*(?:[eE][+-]?\\d+)?|\\.\\d+(?:[eE][+-]?\\d+)?)';
const WORD = '(?:[iI][nN][fF]|[nN][aA][nN])';
// An x right behind a word would belong to the word, so `NaNx3` is refused, as promtool does.
const ITEM = new RegExp(`([+-]?(?:${DECIMAL}|${WORD}(?!x)))(?:([+-]${DECIMAL})?x(\\d+))?(?=\\s|$)`, 'y');
const GAP = /[ \t]+/y;

/** Reads one series. Throws nothing: `problem` says what is wrong and where. */
export function parseSeriesNotation(text: string): SeriesNotation | { readonly problem: QueryProblem } {
  try {
    return readLine(new TextReader(text));
  } catch (error) {
    if (error instanceof SyntaxStop) return { problem: error.problem };
    throw error;
  }
}

/** Reads the values alone, as in the `values` of a rule test. */
export function parseSequence(text: string): readonly SequenceValue[] | { readonly problem: QueryProblem } {
  try {
    const reader = new TextReader(text);
    reader.skipSpace();
    return readSequence(reader);
  } catch (error) {
    if (error instanceof SyntaxStop) return { problem: error.problem };
    throw error;
  }
}

function readLine(reader: TextReader): SeriesNotation {
  reader.skipSpace();
  const labels = labelsOf(readMetric(reader, 'promql'));
  if (reader.at < reader.end && reader.take(GAP) === '') reader.fail('A space is expected before the values.');
  return { labels, values: readSequence(reader) };
}

function readSequence(reader: TextReader): SequenceValue[] {
  const values: SequenceValue[] = [];
  while (reader.at < reader.end) {
    readItem(reader, values);
    if (values.length > MAX_VALUES) reader.fail(`A series may have ${MAX_VALUES} values at most.`);
    reader.skipSpace();
  }
  return values;
}

function readItem(reader: TextReader, values: SequenceValue[]): void {
  const from = reader.at;
  const { text } = reader;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = from;
    const found = pattern.exec(text);
    if (found) reader.at = from + found[0].length;
    return found;
  };
  const repeats = (digits: string | undefined): number => {
    const times = Number(digits);
    if (values.length + times > MAX_VALUES) reader.fail(`A series may have ${MAX_VALUES} values at most.`, from);
    return times;
  };
  const blank = match(BLANK);
  if (blank) {
    for (let n = blank[1] === undefined ? 1 : repeats(blank[1]); n > 0; n--) values.push(undefined);
  } else if (match(STALE)) values.push('stale');
  else {
    const item = match(ITEM);
    if (!item) refuse(reader, from);
    let value = toNumber(item[1]!);
    const delta = item[2] === undefined ? 0 : toNumber(item[2]);
    // Added up step by step, as promtool does it: rounding included.
    for (let n = item[3] === undefined ? 0 : repeats(item[3]); n >= 0; n--, value += delta) values.push(value);
  }
}

function refuse(reader: TextReader, from: number): never {
  const word = reader.take(/\S+/y);
  if (word.startsWith('{{')) reader.fail('Native histograms are not supported.', from);
  return reader.fail(`"${word}" is no value: write numbers, a+bxn, _ or stale.`, from);
}

function toNumber(text: string): number {
  const word = text.toLowerCase();
  if (word.endsWith('nan')) return Number.NaN;
  if (word.endsWith('inf')) return word.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(text);
}

/** Lays a sequence out in time. Steps without a value leave no sample. */
export function toSeries({ labels, values }: SeriesNotation, { start, interval }: NotationTiming): SeriesData {
  const size = values.reduce((count: number, value) => count + (value === undefined ? 0 : 1), 0);
  const times = new Float64Array(size);
  const column = new Float64Array(size);
  const stale = values.includes('stale') ? new Uint8Array(size) : undefined;
  let at = 0;
  values.forEach((value, step) => {
    if (value === undefined) return;
    times[at] = start + step * interval;
    column[at] = value === 'stale' ? Number.NaN : value;
    if (value === 'stale') stale![at] = 1;
    at++;
  });
  return { labels, times, values: column, stale };
}

/** Reads a text with one series a line. Empty lines and lines that start with `#` are passed over. */
export function readNotation(text: string, timing: NotationTiming): ReadSeries {
  const series: SeriesData[] = [];
  const problems: QueryProblem[] = [];
  const seen = new Set<string>();
  for (const { from, to } of linesOf(text)) {
    if (/^\s*(?:#.*)?$/.test(text.slice(from, to))) continue;
    try {
      const notation = readLine(new TextReader(text, from, to));
      if (seen.has(notation.labels.key)) problems.push(problemAt(from, to, 'This series is there already.'));
      else series.push(toSeries(notation, timing));
      seen.add(notation.labels.key);
    } catch (error) {
      if (!(error instanceof SyntaxStop)) throw error;
      problems.push(error.problem);
    }
  }
  return { series, problems };
}

/** The lines of a text without their ends. */
export function* linesOf(text: string): Generator<{ readonly from: number; readonly to: number }> {
  for (let from = 0; from < text.length; ) {
    const newline = text.indexOf('\n', from);
    const to = newline === -1 ? text.length : newline;
    yield { from, to: text[to - 1] === '\r' && to > from ? to - 1 : to };
    from = to + 1;
  }
}
