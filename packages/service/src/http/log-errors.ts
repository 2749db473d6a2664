/** What a failed log search means on the wire. */
import { parseQuery, type Query } from '@obsiac/model';
import { StoreError } from '../log-store/index.ts';
import { Refusal } from '../refusal.ts';

/** Seconds after which a client may ask an engine again that is starting. */
const RETRY_AFTER = 2;

/** @param path where the query stands in the request. @throws Refusal `query_invalid` with the place of the problem */
export function readQuery(text: string, path: string): Query {
  const { query, problem } = parseQuery(text);
  if (query !== undefined) return query;
  const { from, to, fix } = problem;
  const message = fix === undefined ? problem.message : `${problem.message} ${fix}`;
  throw new Refusal('query_invalid', message, { details: [{ path, message, from, to }] });
}

/** Passes on what is no error of the store. */
export function toSearchRefusal(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  const { code, message } = error;
  switch (code) {
    case 'store_unavailable':
      return new Refusal('unavailable', `${message}; ask again shortly.`, { retryAfter: RETRY_AFTER, cause: error });
    case 'store_unsupported':
      return new Refusal('not_implemented', message, { cause: error });
    case 'query_invalid':
      return new Refusal('query_invalid', message, { cause: error });
    case 'query_timeout':
      return new Refusal(
        'query_timeout',
        'The query took longer than it may (setting query_timeout). Narrow its time range, or ask for less.',
        { cause: error },
      );
    case 'query_too_large':
      return new Refusal(
        'query_too_large',
        'The query needs more memory than it may have. Narrow its time range, or group by fewer values.',
        { cause: error },
      );
    default:
      return error;
  }
}
