/** Reads the text formats that targets expose: Prometheus' own (version 0.0.4 and 1.0.0) and OpenMetrics. */
import type { SeriesData } from '../storage/storage.ts';
import { problemAt, type QueryProblem, SyntaxStop } from '../syntax/problem.ts';
import { readMetric, TextReader } from './label-reader.ts';
import { type Labels, labelsOf } from './labels.ts';
import { linesOf, type ReadSeries } from './notation.ts';
import { parseValue } from './numbers.ts';

export interface ExpositionOptions {
  /** Time of samples that carry none, milliseconds. */
  readonly time: number;
}

interface Collected {
  readonly labels: Labels;
  readonly samples: { readonly time: number; readonly value: number; readonly from: number; readonly to: number }[];
}

const WORD = /\S+/y;

/**
 * Reads an exposition. A text that ends with `# EOF` is OpenMetrics, whose times are seconds and which may carry
 * exemplars; otherwise times are milliseconds. A series may have several samples, in any order of time.
 */
export function readExposition(text: string, options: ExpositionOptions): ReadSeries {
  const openMetrics = /(?:^|\n)# EOF\r?\n?$/.test(text);
  const collected = new Map<string, Collected>();
  const problems: QueryProblem[] = [];
  for (const { from, to } of linesOf(text)) {
    const reader = new TextReader(text, from, to);
    reader.skipSpace();
    if (reader.at === reader.end || reader.peek() === '#') continue;
    try {
      readSample(reader, openMetrics, options, collected);
    } catch (error) {
      if (!(error instanceof SyntaxStop)) throw error;
      problems.push(error.problem);
    }
  }
  const series = [...collected.values()].map((each) => toColumns(each, problems));
  return { series, problems: problems.sort((a, b) => a.from - b.from) };
}

function readSample(
  reader: TextReader,
  openMetrics: boolean,
  options: ExpositionOptions,
  into: Map<string, Collected>,
): void {
  const from = reader.at;
  const labels = labelsOf(readMetric(reader, 'exposition'));
  reader.skipSpace();
  const value = readNumber(reader, 'A value is expected here.');
  reader.skipSpace();
  let { time } = options;
  if (reader.at < reader.end && !(openMetrics && reader.peek() === '#')) {
    const stamp = readNumber(reader, 'A timestamp or the end of the line is expected here.');
    time = Math.round(openMetrics ? stamp * 1000 : stamp);
    if (!Number.isSafeInteger(time)) reader.fail('The timestamp is out of range.', from);
  }
  reader.skipSpace();
  // What follows `#` in OpenMetrics is an exemplar.
  if (reader.at < reader.end && !(openMetrics && reader.peek() === '#')) reader.fail('The line should end here.');
  const known = into.get(labels.key) ?? { labels, samples: [] };
  known.samples.push({ time, value, from, to: reader.end });
  into.set(labels.key, known);
}

function readNumber(reader: TextReader, expected: string): number {
  const from = reader.at;
  const value = parseValue(reader.take(WORD));
  return value === undefined ? reader.fail(expected, from) : value;
}

function toColumns({ labels, samples }: Collected, problems: QueryProblem[]): SeriesData {
  const ordered = [...samples].sort((a, b) => a.time - b.time || a.from - b.from);
  const unique = ordered.filter(({ time, from, to }, i) => {
    if (i === 0 || ordered[i - 1]!.time !== time) return true;
    problems.push(problemAt(from, to, 'This series has a sample at this time already.'));
    return false;
  });
  return {
    labels,
    times: Float64Array.from(unique, ({ time }) => time),
    values: Float64Array.from(unique, ({ value }) => value),
    stale: undefined,
  };
}
