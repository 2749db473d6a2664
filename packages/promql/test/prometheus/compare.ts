/** Asks our engine and a real Prometheus the same question and tells how the answers differ. */
import type { ApiAnswer, Prometheus } from '../../../../tasks/prometheus.ts';
import { type ApiData, instantToApi, rangeToApi } from '../../src/eval/api-shape.ts';
import { QueryError } from '../../src/eval/errors.ts';
import { queryInstant, queryRange } from '../../src/eval/query.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { parse } from '../../src/syntax/parser.ts';

/** One question. Times in milliseconds. */
export type Question = { readonly query: string } & (
  | { readonly kind: 'instant'; readonly time: number }
  | { readonly kind: 'range'; readonly start: number; readonly end: number; readonly step: number }
);

/** An answer reduced to what must agree: an error's class, or the data. */
export type Answer = { readonly error: string; readonly message: string } | { readonly data: ApiData };

export async function askOurs(question: Question, storage: Storage, compat: 2 | 3 = 3): Promise<Answer> {
  const parsed = parse(question.query);
  if (!parsed.ok) return { error: 'bad_data', message: parsed.problems[0]!.message };
  try {
    if (question.kind === 'instant') {
      return { data: instantToApi(await queryInstant(parsed.expr, { storage, compat, time: question.time })) };
    }
    const { start, end, step } = question;
    return { data: rangeToApi(await queryRange(parsed.expr, { storage, compat, start, end, step })) };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return { error: error.code === 'bad_range' ? 'bad_data' : 'execution', message: error.message };
  }
}

export async function askPrometheus(question: Question, server: Prometheus): Promise<Answer> {
  const { query } = question;
  const answer: ApiAnswer =
    question.kind === 'instant'
      ? await server.ask('/api/v1/query', { query, time: String(question.time / 1000) })
      : await server.ask('/api/v1/query_range', {
          query,
          start: String(question.start / 1000),
          end: String(question.end / 1000),
          step: String(question.step / 1000),
        });
  if (answer.body.status === 'error') return { error: answer.body.errorType!, message: answer.body.error! };
  return { data: answer.body.data as ApiData };
}

/** Equal to 1e-9 relative; NaN equals NaN. Values are as the API writes them. */
function sameValue(ours: string, theirs: string): boolean {
  if (ours === theirs) return true;
  const [a, b] = [toNumber(ours), toNumber(theirs)];
  if (!Number.isFinite(a) || !Number.isFinite(b)) return Object.is(a, b);
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

function toNumber(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}

function keyOf(metric: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1)));
}

type Points = readonly (readonly [number, string])[];

function seriesOf(data: ApiData): Map<string, Points> {
  if (data.resultType === 'vector') return new Map(data.result.map(({ metric, value }) => [keyOf(metric), [value]]));
  if (data.resultType === 'matrix') return new Map(data.result.map(({ metric, values }) => [keyOf(metric), values]));
  return new Map([[data.resultType, [data.result]]]);
}

/** Says what differs, or nothing when the answers agree. */
export function difference(question: Question, ours: Answer, theirs: Answer): string | undefined {
  if ('error' in ours || 'error' in theirs) {
    const tell = (answer: Answer) => ('error' in answer ? `${answer.error} (${answer.message})` : 'a result');
    const same = 'error' in ours && 'error' in theirs && ours.error === theirs.error;
    return same ? undefined : `ours: ${tell(ours)}; theirs: ${tell(theirs)}`;
  }
  if (ours.data.resultType !== theirs.data.resultType) return `${ours.data.resultType} and ${theirs.data.resultType}`;
  const [a, b] = [seriesOf(ours.data), seriesOf(theirs.data)];
  for (const key of b.keys()) if (!a.has(key)) return `ours lacks ${key}`;
  for (const [key, points] of a) {
    const other = b.get(key);
    if (!other) return `theirs lacks ${key}`;
    const what = pointsDifference(points, other);
    if (what) return `${key}: ${what}`;
  }
  return orderDifference(question, ours.data, theirs.data);
}

/** Range results are in order of labels. Instant ones have an order only when the query asks for it, by value. */
function orderDifference({ kind, query }: Question, ours: ApiData, theirs: ApiData): string | undefined {
  if (ours.resultType === 'matrix' && theirs.resultType === 'matrix') {
    const keys = (data: typeof ours) => data.result.map(({ metric }) => keyOf(metric)).join();
    return keys(ours) === keys(theirs) ? undefined : 'the order of the series';
  }
  if (kind !== 'instant' || !/^(?:sort|sort_desc|topk|bottomk)\(/.test(query)) return undefined;
  if (ours.resultType !== 'vector' || theirs.resultType !== 'vector') return undefined;
  const values = (data: typeof ours) => data.result.map(({ value }): readonly [number, string] => value);
  const what = pointsDifference(values(ours), values(theirs));
  return what && `the order of the values, ${what}`;
}

function pointsDifference(ours: Points, theirs: Points): string | undefined {
  for (let i = 0; i < Math.max(ours.length, theirs.length); i++) {
    const [a, b] = [ours[i], theirs[i]];
    if (a?.[0] !== b?.[0] || a === undefined || b === undefined) return `point ${i}: ${a} and ${b}`;
    if (!sameValue(a[1], b[1])) return `at ${a[0]}: ${a[1]} and ${b[1]}`;
  }
  return undefined;
}
