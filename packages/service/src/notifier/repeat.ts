/** The dedup stage: when a channel that knows of a unit is told again that it still fires. */
import type { EntityRow } from '../metadata/tables.ts';

export interface Repetition {
  /** Minutes between two messages; infinite when nothing is repeated. */
  readonly minutes: number;
  /** Repeats of one trigger. */
  readonly most: number;
}

/** In seconds. A repeat comes with the first minute after so long, so 61 minutes after the message before it. */
const INTERVAL = 3600;
const ALWAYS = -1;

interface Renotify {
  readonly renotify_enabled?: boolean | null;
  readonly renotify_interval_seconds?: number | null;
  readonly renotify_occurrences?: number | null;
}

/** As the entity's metadata says. */
export function repetitionOf(entity: Pick<EntityRow, 'metadata'>): Repetition {
  const metadata = JSON.parse(entity.metadata) as Renotify;
  const { renotify_interval_seconds: seconds, renotify_occurrences: most } = metadata;
  const minutes = metadata.renotify_enabled === false ? Number.POSITIVE_INFINITY : minutesAfter(seconds ?? INTERVAL);
  return { minutes, most: most == null || most === ALWAYS ? Number.POSITIVE_INFINITY : most };
}

export const DEFAULT_REPETITION: Repetition = { minutes: minutesAfter(INTERVAL), most: Number.POSITIVE_INFINITY };

function minutesAfter(seconds: number): number {
  return Math.floor(seconds / 60) + 1;
}

export function isDue({ minutes }: Repetition, before: number, minute: number): boolean {
  return minute - before >= minutes;
}
