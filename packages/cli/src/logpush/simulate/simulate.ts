/** Simulated edge traffic: the same seed gives the same records, whatever the batches they are cut into. */
import { DATASETS } from '@obsiac/model';
import { httpRequest } from './http-requests.ts';
import type { Moment } from './moment.ts';
import { dnsLog, firewallEvent, genericRecord, workersTraceEvent } from './other-datasets.ts';
import { createRandom, type Random } from './random.ts';
import { createWorld, type World } from './world.ts';

export interface Simulation {
  readonly dataset: string;
  readonly seed: number;
  /** Unix nanoseconds; `to` is exclusive. */
  readonly from: bigint;
  readonly to: bigint;
  /** Records a second, on average over the day's curve. */
  readonly rate: number;
  /** When the origin fails, in Unix nanoseconds; null for an uneventful day. */
  readonly incident: { readonly from: bigint; readonly to: bigint } | null;
}

type Writer = (at: bigint, moment: Moment, world: World, random: Random) => string;

const WRITERS: Readonly<Record<string, Writer>> = {
  http_requests: httpRequest,
  firewall_events: firewallEvent,
  dns_logs: dnsLog,
  workers_trace_events: workersTraceEvent,
};

/** Datasets that can be simulated: all of the catalogue. */
export const SIMULATED = Object.keys(DATASETS);

const NANOSECONDS = 1_000_000_000;
const DAY_SECONDS = 86_400;

/** More traffic in the evening than before dawn (UTC); the mean over a day is 1. */
function dayCurve(at: bigint): number {
  const second = Number((at / BigInt(NANOSECONDS)) % BigInt(DAY_SECONDS));
  return 1 + 0.45 * Math.sin((2 * Math.PI * (second / 3600 - 13)) / 24);
}

/** Records as JSON lines without line ends, in order of time but for the jitter with which an edge delivers. */
export function* simulate(simulation: Simulation): Generator<string, void, void> {
  const random = createRandom(simulation.seed);
  const world = createWorld(random);
  const dataset = DATASETS[simulation.dataset];
  const write: Writer | undefined =
    WRITERS[simulation.dataset] ?? (dataset && ((at, _moment, _world, of) => genericRecord(dataset, at, of)));
  if (!write) throw new Error(`no dataset ${simulation.dataset}`);
  const { incident } = simulation;
  let at = simulation.from;
  while (at < simulation.to) {
    const jittered = at - BigInt(random.below(2_000_000_000));
    const start = jittered < simulation.from ? at : jittered;
    const moment = { incident: incident !== null && start >= incident.from && start < incident.to };
    yield write(start, moment, world, random);
    const mean = NANOSECONDS / (simulation.rate * dayCurve(at));
    at += BigInt(Math.max(1, Math.round(-Math.log(1 - random.next()) * mean)));
  }
}

export interface BatchLimits {
  /** Uncompressed bytes. */
  readonly bytes: number;
  readonly records: number;
}

/** Cuts lines into batches as Logpush does: NDJSON, each record followed by a line end. */
export function* batches(
  lines: Iterable<string>,
  limits: BatchLimits,
): Generator<{ readonly text: string; readonly records: number }, void, void> {
  let parts: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    if (parts.length > 0 && (parts.length >= limits.records || bytes + size > limits.bytes)) {
      yield { text: `${parts.join('\n')}\n`, records: parts.length };
      parts = [];
      bytes = 0;
    }
    parts.push(line);
    bytes += size;
  }
  if (parts.length > 0) yield { text: `${parts.join('\n')}\n`, records: parts.length };
}
