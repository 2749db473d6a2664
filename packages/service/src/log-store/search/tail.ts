/** Follows the log: records as they come into the store, each once. */
import type { LogRecord } from '@obsiac/api';
import type { Query } from '@obsiac/model';
import { type SearchConnection, selectRows } from './connection.ts';
import { Parameters } from './parameters.ts';
import { RECORD_COLUMNS, toRecord } from './records.ts';
import { instant, matching } from './statement.ts';

export interface TailRequest {
  readonly org: string;
  readonly query: Query;
  /** Nanoseconds: what was stored before it is not sent. */
  readonly from: bigint;
  readonly signal: AbortSignal;
}

/** What came since the last answer: oldest first, and how many were left out since they were too many. */
export interface TailBatch {
  readonly records: readonly LogRecord[];
  readonly dropped: number;
}

export interface TailSource {
  readonly connection: SearchConnection;
  /** Nanoseconds: everything that was stored before it can be found by queries. Never goes back. */
  readonly watermark: () => bigint;
  /** Resolves when the watermark may have moved, or the signal aborts. */
  readonly wait: (signal: AbortSignal) => Promise<void>;
}

const MOST_RECORDS = 1_000;
/** Records whose time is farther from when they were stored are not followed. */
const LATEST_AHEAD = 86_400_000_000_000n;
const OLDEST_BEHIND = 31n * LATEST_AHEAD;

/** Goes on until the signal aborts. Pipes of the query are not looked at. @throws StoreError */
export async function* followRecords(source: TailSource, request: TailRequest): AsyncGenerator<TailBatch> {
  let since = request.from;
  while (!request.signal.aborted) {
    const until = source.watermark();
    if (until > since) {
      const batch = await storedBetween(source.connection, request, since, until);
      since = until;
      if (batch.records.length > 0) yield batch;
    }
    await source.wait(request.signal);
  }
}

/** The newest of what was stored in `[since, until)`. */
async function storedBetween(
  connection: SearchConnection,
  { org, query, signal }: TailRequest,
  since: bigint,
  until: bigint,
): Promise<TailBatch> {
  const parameters = new Parameters();
  const scope = { org, from: since - OLDEST_BEHIND, to: until + LATEST_AHEAD };
  const source = matching(connection.table, scope, query, parameters);
  const stored = `stored >= ${instant(since)} AND stored < ${instant(until)}`;
  const sql = `SELECT ${RECORD_COLUMNS.join(', ')}, count() OVER ()
${source} AND ${stored} ORDER BY stored DESC, timestamp DESC, id DESC LIMIT ${MOST_RECORDS}`;
  const rows = await selectRows(connection, { sql, parameters: parameters.values }, signal);
  const total = Number(rows[0]?.at(-1) ?? 0);
  return { records: rows.map(toRecord).reverse(), dropped: total - rows.length };
}
