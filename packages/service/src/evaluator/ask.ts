/** Asks data sources: bounded at a time per source, and once more when the source failed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RangeAnswer, type RangeRequest, SourceError } from '../data-source/source.ts';
import type { ResolvedSource } from '../data-source/sources.ts';
import { createLimiter, type Limiter } from './limiter.ts';

/** Queries at a time for a source that sets no number of its own. */
const CONCURRENCY = 8;

/** Longest wait before the second try, in milliseconds, also when the source asks for more: the minute has only sixty seconds. */
const LONGEST_WAIT = 15_000;

export interface AskOptions {
  /** Told how long an answer took, in seconds. */
  readonly measure: (source: string, seconds: number, ok: boolean) => void;
  /** Milliseconds before the second try. */
  readonly retryDelay: () => number;
}

export function createAsk(
  options: AskOptions,
): (source: ResolvedSource, request: RangeRequest) => Promise<RangeAnswer> {
  const limiters = new Map<string, { readonly most: number; readonly limiter: Limiter }>();
  const limiterOf = ({ id, concurrency: most = CONCURRENCY }: ResolvedSource) => {
    const kept = limiters.get(id);
    if (kept?.most === most) return kept.limiter;
    const limiter = createLimiter(most);
    limiters.set(id, { most, limiter });
    return limiter;
  };
  return async (source, request) => {
    const limiter = limiterOf(source);
    const once = () => limiter.run(() => measured(source, request, options));
    try {
      return await once();
    } catch (error) {
      if (!isWorthAnotherTry(error)) throw error;
      const wait = Math.min(Math.max(options.retryDelay(), error.retryAfter ?? 0), LONGEST_WAIT);
      await sleep(wait, undefined, { signal: request.signal });
      return once();
    }
  };
}

function isWorthAnotherTry(error: unknown): error is SourceError {
  return (
    error instanceof SourceError &&
    (error.code === 'partial' || (error.isFaultOfTheSource && error.code !== 'refused_credentials'))
  );
}

async function measured(source: ResolvedSource, request: RangeRequest, options: AskOptions): Promise<RangeAnswer> {
  const began = performance.now();
  let ok = false;
  try {
    const answer = await source.client.queryRange(request);
    ok = true;
    return answer;
  } finally {
    options.measure(source.name, (performance.now() - began) / 1000, ok);
  }
}
