/** What the commands on logs have in common: the query, the time range, and the connection to the service. */
import { ApiError, type ApiErrorDetail, type LogsClient } from '@obsiac/api';
import { type Diagnostic, parseQuery, type Query } from '@obsiac/model';
import { lineColumn } from '@obsiac/promql';
import type { Option } from '../arguments/option.ts';
import type { Arguments, Positional } from '../arguments/parse.ts';
import { durationInMs } from '../arguments/value.ts';
import type { Context } from '../commands/command.ts';
import { InvalidInput, usageFailure } from '../failure.ts';
import { sayDiagnostics } from '../project/diagnostics.ts';
import { loadServiceConfig } from '../project/project.ts';
import { parseTime } from '../promql/time.ts';
import { withSession } from '../session.ts';

/** The name that the query has in messages, where a file has its path. */
const PLACE = 'QUERY';

export const QUERY: Positional = {
  name: 'QUERY',
  required: false,
  summary: 'What to look for, quoted for the shell; docs/query-language.md explains it. Default: everything.',
};

export const RANGE_OPTIONS: readonly Option[] = [
  {
    name: 'from',
    value: 'TIME',
    summary: 'Start of the time range: now-90m, 90m, 2026-11-21T07:30:00Z, or Unix seconds (default now-1h).',
  },
  { name: 'to', value: 'TIME', summary: 'End of the time range, not included (default now).' },
];

export interface Range {
  readonly from: string;
  readonly to: string;
}

/** Both ends, and that one is before the other. Nanoseconds stay exact. */
export function rangeOf(args: Arguments): Range {
  const now = Date.now();
  const from = nanosecondsOf(args.text('from') ?? '1h', 'from', now);
  const to = nanosecondsOf(args.text('to') ?? 'now', 'to', now);
  if (from >= to) {
    throw usageFailure('--from is not before --to', `It would be from ${isoTime(from)} to ${isoTime(to)}.`);
  }
  return { from: from.toString(), to: to.toString() };
}

const DAY_MS = 86_400_000;

/**
 * Unix nanoseconds of a time of the command line. In addition to what `parseTime` reads: a duration alone is so long ago, days and weeks
 * (`7d`, `2w`), and times with up to nine digits of fraction or in whole nanoseconds.
 */
export function nanosecondsOf(text: string, option: string, now: number): bigint {
  const [, count, unit] = /^(?:now-)?(\d{1,5})([dw])$/.exec(text) ?? [];
  if (count !== undefined) return BigInt(now - Number(count) * DAY_MS * (unit === 'w' ? 7 : 1)) * 1_000_000n;
  if (durationInMs(text) !== null && text !== '0') return nanosecondsOf(`now-${text}`, option, now);
  if (/^\d{19}$/.test(text)) return BigInt(text);
  const [, fraction = ''] = /[T ]\d{2}:\d{2}:\d{2}\.(\d{4,9})(?=Z|[+-]|$)/.exec(text) ?? [];
  const milliseconds = millisecondsOf(
    fraction === '' ? text : text.replace(fraction, fraction.slice(0, 3)),
    option,
    now,
  );
  return BigInt(milliseconds) * 1_000_000n + BigInt(fraction.slice(3).padEnd(fraction === '' ? 0 : 6, '0') || '0');
}

function millisecondsOf(text: string, option: string, now: number): number {
  try {
    return parseTime(text, option, now, now);
  } catch {
    throw usageFailure(
      `--${option} does not read as a time: ${text}`,
      'Write now, now-90m, 90m or 7d for so long ago, 2026-11-21T07:30:00Z, or Unix seconds.',
    );
  }
}

/** `2026-11-21T07:30:00.123Z`, with as many digits of fraction as are not zero, three at least. */
export function isoTime(nanoseconds: bigint | string): string {
  const all = BigInt(nanoseconds);
  const below = ((all % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const milliseconds = (all - below) / 1_000_000n;
  const rest = below.toString().padStart(6, '0').replace(/0+$/, '');
  return new Date(Number(milliseconds)).toISOString().replace('Z', `${rest}Z`);
}

/** The query's text after it was parsed here, so that what is wrong with it is told with its place and without a request. */
export function queryOf(args: Arguments, context: Context): { readonly text: string; readonly query: Query } {
  const text = args.positional(0) ?? '';
  const { query, problem } = parseQuery(text);
  if (problem !== undefined) {
    const detail = problem.fix === undefined ? problem.message : `${problem.message} For example: ${problem.fix}`;
    sayDiagnostics([queryDiagnostic(text, detail, problem)], new Map([[PLACE, text]]), args, context);
    throw new InvalidInput();
  }
  return { text, query };
}

function queryDiagnostic(
  text: string,
  detail: string,
  place: { readonly from: number; readonly to: number },
): Diagnostic {
  const start = lineColumn(text, place.from);
  const end = lineColumn(text, Math.max(place.to, place.from + 1));
  return {
    severity: 'error',
    code: 'query/invalid',
    summary: 'Not a valid query',
    detail,
    source: { file: PLACE, line: start.line, column: start.column, endLine: end.line, endColumn: end.column },
  };
}

/** How long a search may take; the service has a deadline of its own. */
const ANSWER_TIMEOUT_MS = 120_000;

/** Runs `work` with a client of the config's service. A query that the service refuses is shown with its place. */
export async function withLogs<Result>(
  args: Arguments,
  context: Context,
  work: (logs: LogsClient) => Promise<Result>,
): Promise<Result> {
  const config = await loadServiceConfig(args, context);
  try {
    return await withSession(config, 4, ({ client }) => work(client.logs), ANSWER_TIMEOUT_MS);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const text = args.positional(0) ?? '';
    const placed = error.details.filter(hasPlace);
    if (placed.length === 0) throw error;
    const diagnostics = placed.map((detail) => queryDiagnostic(text, detail.message, detail));
    sayDiagnostics(diagnostics, new Map([[PLACE, text]]), args, context);
    throw new InvalidInput();
  }
}

function hasPlace(detail: ApiErrorDetail): detail is ApiErrorDetail & { readonly from: number; readonly to: number } {
  return detail.from !== undefined && detail.to !== undefined;
}

/** A whole number of an option within its range. */
export function countOf(args: Arguments, option: string, fallback: number, most: number): number {
  const count = args.number(option) ?? fallback;
  if (count < 1 || count > most) throw usageFailure(`--${option} is from 1 to ${most}; ${count} is not`);
  return count;
}

/** Names with commas between, repeatable; undefined when there are none. */
export function namesOf(args: Arguments, option: string): string[] | undefined {
  const names = args.texts(option).flatMap((list) => list.split(',').map((name) => name.trim()));
  if (names.length === 0) return undefined;
  if (names.includes('')) throw usageFailure(`--${option} has an empty name`, 'Write names with commas between.');
  return names;
}
