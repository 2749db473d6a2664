/** Follows the alerts: what has changed since the last look. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type AlertMonitor, ApiError } from '@obsiac/api';
import { type AlertRow, alertRows, keyOf } from './alert-rows.ts';

/** Milliseconds between two looks: alerts change once a minute, at any second of it. */
const PAUSE = 10_000;

export type WatchEvent =
  | { readonly kind: 'all'; readonly feed: AlertMonitor; readonly rows: readonly AlertRow[] }
  /** Alerts that are new, or in another state; `at` is unix seconds. */
  | { readonly kind: 'changed'; readonly at: number; readonly rows: readonly AlertRow[] }
  | { readonly kind: 'broken'; readonly reason: string }
  | { readonly kind: 'back' };

/** First everything, then what changes. Ends when the signal is aborted; throws what will not pass. */
export async function* watchAlerts(
  read: () => Promise<AlertMonitor>,
  signal: AbortSignal,
  pauseMs = PAUSE,
): AsyncGenerator<WatchEvent, void, void> {
  let known: ReadonlyMap<string, AlertRow> | undefined;
  let isBroken = false;
  while (!signal.aborted) {
    try {
      const feed = await read();
      if (isBroken) yield { kind: 'back' };
      isBroken = false;
      const rows = alertRows(feed);
      if (known === undefined) yield { kind: 'all', feed, rows };
      else {
        const changed = changesOf(known, rows, feed.timestamp);
        if (changed.length > 0) yield { kind: 'changed', at: feed.timestamp, rows: changed };
      }
      known = new Map(rows.map((row) => [keyOf(row), row]));
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError && (error.retryable || error.code === 'cut' || error.code === 'timeout')))
        throw error;
      if (!isBroken) yield { kind: 'broken', reason: error.message };
      isBroken = true;
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

function changesOf(before: ReadonlyMap<string, AlertRow>, rows: readonly AlertRow[], at: number): AlertRow[] {
  const changed = rows.filter((row) => !isSame(before.get(keyOf(row)), row));
  const there = new Set(rows.map(keyOf));
  // What fired resolves, and is told so; what was pending only is simply no longer there.
  const calmed = [...before]
    .filter(([key, { alert }]) => alert.state === 'pending' && !there.has(key))
    .map(([, { rule, alert }]): AlertRow => ({ rule, alert: { ...alert, state: 'normal', since: at } }));
  return [...changed, ...calmed];
}

/** One firing is not the next. */
function isSame(before: AlertRow | undefined, { alert }: AlertRow): boolean {
  return before?.alert.state === alert.state && before.alert.since === alert.since;
}
