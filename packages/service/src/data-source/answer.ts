/**
 * Reads the answer of `query_range` strictly: what is not as documented is refused rather than guessed.
 * Source: Prometheus documentation, "HTTP API": "Range queries", "Range vectors".
 */
import { type RangeSeries, SourceError } from './source.ts';

export interface AnswerLimits {
  readonly maxSeries: number;
}

export interface ReadAnswer {
  readonly series: RangeSeries[];
  readonly warnings: string[];
}

/** The API's form of an error came with the status of a success. */
export class ErrorInside extends Error {
  readonly errorType: string;

  constructor(errorType: string, message: string) {
    super(message);
    this.errorType = errorType;
  }
}

/** What is kept of warnings. */
const MOST_WARNINGS = 20;

/** @throws SourceError `bad_answer`, `bad_query`, `partial`, `too_large`; ErrorInside */
export function readAnswer(body: Buffer, { maxSeries }: AnswerLimits): ReadAnswer {
  const answer = objectOf(parsed(body), 'The answer');
  if (answer['status'] === 'error') {
    throw new ErrorInside(String(answer['errorType'] ?? ''), String(answer['error'] ?? 'no reason given'));
  }
  if (answer['status'] !== 'success') throw bad('it has no status');
  const warnings = textsOf(answer['warnings'], 'warnings');
  refusePartial(answer, warnings);
  const data = objectOf(answer['data'], 'data');
  if (data['resultType'] !== 'matrix') throw bad(`its result is a ${String(data['resultType'])}, not a matrix`);
  const result = data['result'];
  if (!Array.isArray(result)) throw bad('its result is not a list');
  if (result.length > maxSeries) {
    throw new SourceError('too_large', `The query gives ${result.length} series; at most ${maxSeries} are read.`);
  }
  return {
    series: result.map(seriesOf),
    warnings: [...warnings, ...textsOf(answer['infos'], 'infos')].slice(0, MOST_WARNINGS),
  };
}

function parsed(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const start = text.trimStart().slice(0, 100);
    if (start === '') throw new SourceError('bad_answer', 'The answer is empty.', { cause });
    if (start.startsWith('<')) {
      throw new SourceError('bad_answer', 'The answer is a page for browsers, such as a login page, not JSON.', {
        cause,
      });
    }
    throw new SourceError('bad_answer', 'The answer is not whole JSON.', { cause });
  }
}

/**
 * VictoriaMetrics says `isPartial`. The others warn: what PromQL itself remarks begins with "PromQL warning" or "PromQL info" and
 * concerns the query; any other warning tells of storage that did not answer.
 */
function refusePartial(answer: Readonly<Record<string, unknown>>, warnings: readonly string[]): void {
  const { isPartial } = answer;
  if (isPartial !== undefined && typeof isPartial !== 'boolean') throw bad('its isPartial is neither true nor false');
  if (isPartial) throw new SourceError('partial', 'The answer leaves out data: isPartial is true.');
  const storage = warnings.find((warning) => !isRemark(warning));
  if (storage !== undefined) throw new SourceError('partial', `The answer leaves out data: ${storage}`);
}

/** Also the line that counts further remarks. Source: Prometheus, `util/annotations`. */
function isRemark(warning: string): boolean {
  return /^PromQL (?:warning|info)\b|^\d+ more (?:warning |info )?(?:annotations|messages) omitted$/.test(warning);
}

function seriesOf(value: unknown): RangeSeries {
  const { metric, values, histograms } = objectOf(value, 'a series');
  const labels = objectOf(metric, 'the labels of a series');
  for (const name in labels) if (typeof labels[name] !== 'string') throw bad(`its label ${name} is not a text`);
  if (Array.isArray(histograms) && histograms.length > 0) {
    throw new SourceError(
      'bad_query',
      'The query gives native histograms, which have no single value: use histogram_quantile, histogram_count or the like.',
    );
  }
  if (!Array.isArray(values)) throw bad('a series has no values');
  // One buffer for both: thousands of small ones a minute keep the garbage collector busy.
  const columns = new Float64Array(2 * values.length);
  const times = columns.subarray(0, values.length);
  const numbers = columns.subarray(values.length);
  let previous = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < values.length; index++) {
    const point: unknown = values[index];
    if (!Array.isArray(point) || point.length !== 2) throw bad('a point is not a pair of time and value');
    const [time, text] = point as [unknown, unknown];
    if (typeof time !== 'number' || !Number.isFinite(time) || time <= previous) throw bad('times do not rise');
    previous = time;
    times[index] = time;
    numbers[index] = numberOf(text);
  }
  return { labels: labels as Record<string, string>, times, values: numbers };
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** As Go's `strconv.FormatFloat` writes numbers. */
function numberOf(text: unknown): number {
  if (typeof text === 'string') {
    if (NUMBER.test(text)) return Number(text);
    if (text === 'NaN') return Number.NaN;
    if (text === '+Inf' || text === 'Inf') return Number.POSITIVE_INFINITY;
    if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  }
  throw bad(`${JSON.stringify(text)?.slice(0, 40)} is not a number`);
}

function textsOf(value: unknown, what: string): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((text) => typeof text === 'string')) return value;
  throw bad(`its ${what} are not a list of texts`);
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw bad(`${what} is not an object`);
}

function bad(what: string): SourceError {
  return new SourceError('bad_answer', `The answer is not as the Prometheus API gives it: ${what}.`);
}
