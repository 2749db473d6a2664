/** The value of `--concurrency`. */
import type { Arguments } from '../arguments/parse.ts';
import { usageFailure } from '../failure.ts';
import { DEFAULT_CONCURRENCY } from '../session.ts';

const MOST = 256;

export function concurrencyOf(args: Arguments): number {
  const concurrency = args.number('concurrency') ?? DEFAULT_CONCURRENCY;
  if (concurrency < 1 || concurrency > MOST) {
    throw usageFailure(`--concurrency is from 1 to ${MOST}; ${concurrency} is not`);
  }
  return concurrency;
}
