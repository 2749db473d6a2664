/** Where `promql eval` takes its samples from: a file in one of two notations, or a Prometheus server. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { hasErrors } from '@obsiac/model';
import {
  type LabelMatcher,
  labelsOf,
  MemoryStorage,
  parseValue,
  printMatcher,
  readExposition,
  readNotation,
  type SeriesData,
  type Storage,
} from '@obsiac/promql';
import type { Arguments } from '../arguments/parse.ts';
import type { Context } from '../commands/command.ts';
import { EXIT } from '../exit-code.ts';
import { Failure, InvalidInput } from '../failure.ts';
import { sayDiagnostics } from '../project/diagnostics.ts';
import { reasonFor } from '../project/file-reason.ts';
import { problemDiagnostic } from './query-text.ts';

export interface Samples {
  readonly storage: Storage;
  /** First and last sample, Unix milliseconds; null for a server. */
  readonly span: { readonly from: number; readonly to: number } | null;
}

/** A line of series notation has its values after the series and a space; an exposition has one value, and a time at most. */
function looksLikeNotation(text: string): boolean {
  const lines = text.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  return lines.some(
    (line) =>
      /(\s(_|stale|[+-]?[\d.]+[+-][\d.]+x\d+|[+-]?[\d.]+x\d+|_x\d+)(\s|$))/.test(line) ||
      /\}?(\s+[+-]?[\d.eE]+){3,}\s*$/.test(line),
  );
}

/** Reads `--data`; problems are shown with their lines and end the command. */
export function readSampleFile(file: string, args: Arguments, context: Context, now: number): Samples {
  const text = readText(file, context.cwd);
  const format = args.text('format') ?? (looksLikeNotation(text) ? 'notation' : 'exposition');
  const { series, problems } =
    format === 'notation'
      ? readNotation(text, { start: 0, interval: args.number('interval') ?? 60_000 })
      : readExposition(text, { time: now });
  const shown = file === '-' ? 'standard input' : file;
  const diagnostics = problems.map((problem) => problemDiagnostic(problem, text, shown, 'samples'));
  sayDiagnostics(diagnostics, new Map([[shown, text]]), args, context);
  if (hasErrors(diagnostics)) throw new InvalidInput();
  return { storage: new MemoryStorage().add(series), span: spanOf(series) };
}

function readText(file: string, cwd: string): string {
  try {
    return readFileSync(file === '-' ? 0 : path.resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new Failure(EXIT.error, {
      code: 'data_unreadable',
      summary: `Cannot read ${file === '-' ? 'standard input' : file}`,
      detail: reasonFor(error as NodeJS.ErrnoException),
    });
  }
}

function spanOf(series: readonly SeriesData[]): { from: number; to: number } | null {
  const filled = series.filter(({ times }) => times.length > 0);
  if (filled.length === 0) return null;
  return {
    from: Math.min(...filled.map(({ times }) => times[0] as number)),
    to: Math.max(...filled.map(({ times }) => times.at(-1) as number)),
  };
}

/** A matcher that comes from no text. */
const NOWHERE = { from: 0, to: 0 };

/** Largest answer that is read from a server. */
const LARGEST_ANSWER = 256 * 1024 * 1024;

/**
 * Raw samples of a Prometheus-compatible server: an instant query of a range selector gives them as they are
 * (Prometheus HTTP API, `/api/v1/query`). It gives no staleness markers, so that series seem to end a lookback later.
 */
export function serverStorage(address: string): Storage {
  const base = address.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  return {
    select: async (matchers, from, to, options) => {
      const selector = `{${matchers.map((matcher: LabelMatcher) => printMatcher({ ...matcher, span: NOWHERE })).join(',')}}`;
      // The window of a range selector is open on its left.
      const query = `${selector}[${to - from + 1}ms]`;
      const body = new URLSearchParams({ query, time: (to / 1000).toFixed(3) });
      const answer = await ask(`${base}/api/v1/query`, body, options?.signal);
      return (answer as RangeVector).result.map(toSeries);
    },
  };
}

interface RangeVector {
  readonly result: readonly {
    readonly metric: Record<string, string>;
    readonly values: readonly (readonly [number, string])[];
  }[];
}

function toSeries({ metric, values }: RangeVector['result'][number]): SeriesData {
  return {
    labels: labelsOf(Object.entries(metric)),
    times: Float64Array.from(values, ([seconds]) => Math.round(seconds * 1000)),
    values: Float64Array.from(values, ([, value]) => parseValue(value) ?? Number.NaN),
    stale: undefined,
  };
}

async function ask(url: string, body: URLSearchParams, signal: AbortSignal | undefined): Promise<unknown> {
  const refuse = (detail: string) =>
    new Failure(EXIT.error, { code: 'server_refused', summary: `${new URL(url).host} gave no samples`, detail });
  const response = await fetch(url, { method: 'POST', body, ...(signal && { signal }) }).catch((error: Error) => {
    throw refuse(`It cannot be reached: ${(error.cause as Error | undefined)?.message ?? error.message}. Check --url.`);
  });
  if (Number(response.headers.get('content-length') ?? 0) > LARGEST_ANSWER)
    throw refuse('Its answer is over 256 MiB. Ask for a shorter time.');
  const text = await response.text();
  try {
    const answer = JSON.parse(text) as { status: string; error?: string; data: { resultType: string } };
    if (answer.status !== 'success') throw refuse(`It said: ${answer.error ?? response.status}.`);
    return answer.data;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw refuse(`It answered ${response.status} with something that is not the Prometheus HTTP API. Check --url.`);
  }
}
