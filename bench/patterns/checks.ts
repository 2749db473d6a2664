/** The single measurements of the benchmark: cross-firing, robustness, noise, cold start, real series and cost. */
import {
  buildPatternHistory,
  evaluatePattern,
  type Macro,
  type PatternHistory,
  patternHistoryMinute,
  patternReach,
} from '../../packages/model/src/index.ts';
import { Random } from '../../packages/model/test/pattern/random.ts';
import {
  addScore,
  emptyScore,
  falseAlarmsADay,
  firstBad,
  recall,
  type Score,
} from '../../packages/model/test/pattern/score.ts';
import {
  DAY,
  type EventKind,
  type InjectedEvent,
  type Synthetic,
} from '../../packages/model/test/pattern/synthetic.ts';
import { badMinutes, DIRECTIONS, FROM, MACRO_OF, scoreMacros, TO } from './detect.ts';
import type { RealSeries } from './real-series.ts';

const MACRO_ROWS: readonly (readonly [EventKind, 1 | -1])[] = [
  ['spike', 1],
  ['spike', -1],
  ['changepoint', 1],
  ['changepoint', -1],
  ['trend', 1],
  ['trend', -1],
];

/** How long after an event a macro may have fired because of it. */
const ECHO: Readonly<Record<EventKind, number>> = { spike: 10, changepoint: 90, trend: 120 };

export interface CrossRow {
  readonly injected: Macro;
  /** Share of the injected events on which each macro fired. */
  readonly fired: readonly { readonly macro: Macro; readonly share: number }[];
}

/** Which macro fires on what. */
export function crossFiring(sets: Readonly<Record<EventKind, readonly Synthetic[]>>, tolerance: number): CrossRow[] {
  const events = new Map<string, number>();
  const fired = new Map<string, number>();
  const add = (map: Map<string, number>, key: string, by: number) => map.set(key, (map.get(key) ?? 0) + by);
  for (const series of Object.values(sets).flat()) {
    if (series.events.length === 0) continue;
    for (const event of series.events) add(events, MACRO_OF[event.kind][event.direction], 1);
    for (const [kind, direction] of MACRO_ROWS) {
      const macro = MACRO_OF[kind][direction];
      const isBad = badMinutes(macro, tolerance, series.values);
      for (const event of series.events) {
        const until = Math.min(event.end + ECHO[event.kind], TO - 1);
        if (firstBad(isBad, event.start, until) >= 0)
          add(fired, `${MACRO_OF[event.kind][event.direction]} ${macro}`, 1);
      }
    }
  }
  const macros = MACRO_ROWS.map(([kind, direction]) => MACRO_OF[kind][direction]);
  return macros.map((injected) => ({
    injected,
    fired: macros.map((macro) => ({
      macro,
      share: (fired.get(`${injected} ${macro}`) ?? 0) / Math.max(events.get(injected) ?? 0, 1),
    })),
  }));
}

/** Largest of the shares of some cells. */
export const worstCell = (rows: readonly CrossRow[], wanted: (injected: string, macro: string) => boolean): number =>
  Math.max(
    ...rows.flatMap(({ injected, fired }) => fired.map((cell) => (wanted(injected, cell.macro) ? cell.share : 0))),
  );

/** The same series with one sample a thousand times too large 20 to 600 minutes before each event. */
export function withGlitches(set: readonly Synthetic[], seed: number): Synthetic[] {
  const random = new Random(seed);
  return set.map((series) => {
    const values = series.values.slice();
    const glitches = [...series.glitches];
    for (const { start } of series.events) {
      const at = start - random.integer(20, 600);
      const value = Number.isFinite(values[at]) ? values[at]! : 1;
      values[at] = 1000 * (value === 0 ? 1 : value);
      glitches.push(at);
    }
    return { ...series, values, glitches };
  });
}

/** The same series with a share of its minutes missing; an event of which nothing was measured is none. */
export function withMissing(set: readonly Synthetic[], share: number, seed: number): Synthetic[] {
  const random = new Random(seed);
  return set.map((series) => {
    const values = series.values.map((value) => (random.chance(share) ? Number.NaN : value));
    const isMeasured = ({ kind, start, end }: InjectedEvent) =>
      kind !== 'spike' || values.subarray(start, end + 1).some(Number.isFinite);
    return { ...series, values, events: series.events.filter(isMeasured) };
  });
}

/** Recall lost, and false alarms a day, by what `change` does to the series. */
export function robustness(kind: EventKind, set: readonly Synthetic[], changed: readonly Synthetic[]) {
  const before = scoreMacros(kind, set, 5);
  const after = scoreMacros(kind, changed, 5);
  return {
    before: recall(before),
    after: recall(after),
    lost: recall(before) - recall(after),
    alarms: falseAlarmsADay(after),
  };
}

/** One minute of noise after the other. */
type Noise = (random: Random) => () => number;

const autoregressive =
  (memory: number): Noise =>
  (random) => {
    let value = random.normal();
    return () => {
      value = memory * value + Math.sqrt(1 - memory ** 2) * random.normal();
      return 100 + 10 * value;
    };
  };

export const NOISES = {
  gaussian: (random) => () => 100 + 10 * random.normal(),
  'lognormal(.5)': (random) => () => 100 * Math.exp(0.5 * random.normal()),
  'AR(.8)': autoregressive(0.8),
  'AR(.95)': autoregressive(0.95),
  'Student t(3)': (random) => () => 100 + 10 * random.student3(),
} as const satisfies Record<string, Noise>;

/** False alarms a day of both directions of a kind on ten days of noise each, from the fifth on. */
export function alarmsOnNoise(
  kind: EventKind,
  noise: keyof typeof NOISES,
  tolerance: number,
  series: number,
  seed: number,
) {
  const score = emptyScore();
  for (let i = 0; i < series; i++) {
    const next = NOISES[noise](new Random(seed + 1000 * i));
    const values = Float64Array.from({ length: TO }, next);
    for (const direction of DIRECTIONS) addNoise(score, kind, direction, values, tolerance);
  }
  // Both directions of one series count together: a day of a series is one day.
  return 2 * falseAlarmsADay(score);
}

function addNoise(score: Score, kind: EventKind, direction: 1 | -1, values: Float64Array, tolerance: number): void {
  const isBad = badMinutes(MACRO_OF[kind][direction], tolerance, values);
  addScore(score, isBad, FROM, TO, { kind, direction }, { events: [], glitches: [] });
}

/** False alarms a day of both macros of a kind while there are `fromHour` to `toHour` hours of history. */
export function coldStart(kind: EventKind, set: readonly Synthetic[], fromHour: number, toHour: number): number {
  return falseAlarmsADay(scoreMacros(kind, set, 5, fromHour * 60, toHour * 60));
}

export interface RealScore {
  readonly tolerance: number;
  readonly hits: number;
  readonly labels: number;
  readonly alarms: number;
}

/** Labels are set by eye: a spike counts when seen within an hour, a step when seen up to 45 samples later. */
const LABEL_BEFORE = 12;
const LABEL_AFTER: Readonly<Record<EventKind, number>> = { spike: 12, changepoint: 45, trend: 60 };
const ECHO_SAMPLES = 130;

/** Hits of the typed labels and false alarms in 1,440 samples outside of all known events. */
export function scoreReal(kind: EventKind, set: readonly RealSeries[], tolerance: number): RealScore {
  const score = emptyScore();
  let hits = 0;
  let labels = 0;
  for (const { values, labels: typed, windows } of set) {
    const known = [...windows, ...typed.map(({ at }) => [at - LABEL_BEFORE, at] as const)];
    const quiet = new Uint8Array(values.length);
    for (const [start, end] of known) quiet.fill(1, Math.max(start, 0), end + ECHO_SAMPLES);
    for (const direction of DIRECTIONS) {
      const macro = MACRO_OF[kind][direction];
      const isBad = badMinutes(macro, tolerance, values, 0, values.length);
      for (const { macro: wanted, at } of typed) {
        if (wanted !== macro) continue;
        labels++;
        if (firstBad(isBad, at - LABEL_BEFORE, Math.min(at + LABEL_AFTER[kind], values.length - 1)) >= 0) hits++;
      }
      const outside = emptyScore();
      addScore(
        outside,
        (i) => quiet[i] === 0 && isBad(i),
        0,
        values.length,
        { kind, direction },
        { events: [], glitches: [] },
      );
      score.falseAlarms += outside.falseAlarms;
      score.minutes += quiet.reduce((sum, flag) => sum + 1 - flag, 0);
    }
  }
  return { tolerance, hits, labels, alarms: falseAlarmsADay(score) };
}

export interface Cost {
  readonly macro: Macro;
  readonly p50: number;
  readonly p99: number;
  readonly mean: number;
  readonly refresh: number;
}

const ROUNDS = 5;

/**
 * Microseconds of one minute of one series, with the refresh of its history in every tenth minute, and of the refresh
 * alone. Of each minute the fastest of five rounds counts, since the machine does other things too.
 */
export function cost(macro: Macro, values: Float64Array, minutes: number): Cost {
  const reach = patternReach(macro);
  const series = { startMinute: 0, values };
  const days = Array.from({ length: reach.previousDays }, () => series);
  const times = new Float64Array(minutes).fill(Number.POSITIVE_INFINITY);
  const refreshes = new Float64Array(Math.ceil(minutes / 10)).fill(Number.POSITIVE_INFINITY);
  const from = FROM + 4 * DAY;
  for (let round = 0; round < ROUNDS; round++) {
    let history: PatternHistory | undefined;
    for (let i = 0; i < minutes; i++) {
      const began = performance.now();
      const builtAt = patternHistoryMinute(from + i);
      if (history?.builtAt !== builtAt) {
        history = buildPatternHistory(macro, series, days, builtAt);
        refreshes[i / 10] = Math.min(refreshes[i / 10]!, performance.now() - began);
      }
      evaluatePattern(macro, 5, series, history, from + i);
      times[i] = Math.min(times[i]!, performance.now() - began);
    }
  }
  const mean = (1000 * times.reduce((sum, time) => sum + time, 0)) / minutes;
  const at = (all: Float64Array, share: number) => 1000 * all.sort()[Math.floor(share * (all.length - 1))]!;
  return { macro, p50: at(times, 0.5), p99: at(times, 0.99), mean, refresh: at(refreshes, 0.5) };
}

/** Bytes that a caller keeps for one series and macro: what is built, and the samples it is built from. */
export function memory(macro: Macro, values: Float64Array): { built: number; samples: number } {
  const reach = patternReach(macro);
  const series = { startMinute: 0, values };
  const history = buildPatternHistory(
    macro,
    series,
    Array.from({ length: 7 }, () => series),
    FROM + 4 * DAY,
  );
  const built = history.days.reduce((bytes, day) => bytes + day.byteLength, 0) + 8 * Object.keys(history).length;
  return { built, samples: 8 * (reach.historyMinutes + reach.previousDays * reach.sliceMinutes) };
}
