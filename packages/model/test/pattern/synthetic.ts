/**
 * Synthetic series of ten days with known events: twelve families of noise and season, spikes, steps and ramps of known
 * place and size, glitches, missing minutes and gaps. Events begin on the fifth day, about one in ten hours.
 */
import { Random } from './random.ts';

export const KINDS = ['spike', 'changepoint', 'trend'] as const;
export type EventKind = (typeof KINDS)[number];

export interface InjectedEvent {
  /** Spikes: `high_spike` or `low_spike`, and so on: the macro that should see it is that of kind and direction. */
  readonly kind: EventKind;
  readonly direction: 1 | -1;
  /** Index of its first minute. */
  readonly start: number;
  /** Index of its last minute; of a step, which stays, its first. */
  readonly end: number;
}

export interface Synthetic {
  readonly family: Family;
  readonly values: Float64Array;
  readonly events: readonly InjectedEvent[];
  /** Single absurd samples, which are not the events that are looked for. */
  readonly glitches: readonly number[];
}

export const DAYS = 10;
export const DAY = 1440;
export const FIRST_EVENT_DAY = 4;

export const FAMILIES = [
  'gaussian',
  'square',
  'autoregressive',
  'poisson high',
  'poisson low',
  'lognormal',
  'diurnal',
  'diurnal counts',
  'drift',
  'hourly job',
  'daily job',
  'quantised',
] as const;
export type Family = (typeof FAMILIES)[number];

/** A level for each minute and a sample for a level. */
interface Process {
  readonly level: Float64Array;
  /** Standard deviation of the noise. */
  readonly sigma: number;
  /** Whether it cannot be negative. */
  readonly positive: boolean;
  /** The sample at a level, with the noise of the next minute. */
  sample(level: number): number;
}

/** One series of a family with events of one kind. The same seed gives the same series. */
export function synthetic(family: Family, kind: EventKind, seed: number): Synthetic {
  const random = new Random(seed * 7919 + FAMILIES.indexOf(family) * 104_729 + KINDS.indexOf(kind) * 15_485_863);
  const process = processOf(family, random);
  const { level } = process;
  const events = random.chance(0.2) ? [] : schedule(kind, random);
  const injected = injector(process, kind, random);
  const placed = events.map((event) => injected(event));
  const values = Float64Array.from(level, (value) => process.sample(value));
  const glitches = random.chance(0.35) ? addGlitches(values, process, placed, random) : [];
  if (random.chance(0.4)) loseSamples(values, random);
  return { family, values, events: placed, glitches };
}

function processOf(family: Family, random: Random): Process {
  const level = new Float64Array(DAYS * DAY);
  const base = random.between(50, 500);
  const sigma = base * random.between(0.03, 0.15);
  const gaussian: Process = { level, sigma, positive: false, sample: (value) => value + sigma * random.normal() };
  switch (family) {
    case 'gaussian':
      level.fill(base);
      return gaussian;
    case 'square':
      fillSquare(level, base, sigma * random.between(5, 15), random);
      return gaussian;
    case 'autoregressive':
      level.fill(base);
      return { ...gaussian, sample: autoregressive(sigma, random.between(0.3, 0.95), random) };
    case 'poisson high':
      return counts(level.fill(random.between(50, 500)), random);
    case 'poisson low':
      return counts(level.fill(random.between(0.5, 6)), random);
    case 'lognormal': {
      const spread = random.between(0.3, 0.9);
      level.fill(base);
      const deviation = base * Math.exp(spread ** 2 / 2) * Math.sqrt(Math.exp(spread ** 2) - 1);
      const sample = (value: number) => value - base + base * Math.exp(spread * random.normal());
      return { level, sigma: deviation, positive: true, sample };
    }
    case 'diurnal':
      fillSine(level, base, sigma * random.between(4, 20), random);
      return gaussian;
    case 'diurnal counts': {
      const mean = random.between(20, 300);
      fillSine(level, mean, mean * random.between(0.3, 0.7), random);
      return counts(level, random, mean);
    }
    case 'drift':
      fillDrift(level, base, sigma, random);
      return gaussian;
    case 'hourly job':
      fillJob(level, base, sigma * random.between(6, 20), 60, random.integer(1, 3), random);
      return gaussian;
    case 'daily job':
      fillJob(level, base, sigma * random.between(6, 20), DAY, random.integer(5, 30), random);
      return gaussian;
    case 'quantised': {
      level.fill(base);
      const step = sigma * random.between(0.5, 2);
      return { ...gaussian, sample: (value) => Math.round((value + sigma * random.normal()) / step) * step };
    }
  }
}

/** Stationary noise with standard deviation `sigma`. */
function autoregressive(sigma: number, memory: number, random: Random): (level: number) => number {
  const innovation = sigma * Math.sqrt(1 - memory ** 2);
  let noise = sigma * random.normal();
  return (level) => {
    noise = memory * noise + innovation * random.normal();
    return level + noise;
  };
}

function counts(level: Float64Array, random: Random, mean = level[0]!): Process {
  return { level, sigma: Math.sqrt(mean), positive: true, sample: (value) => random.poisson(value) };
}

function fillSquare(level: Float64Array, base: number, height: number, random: Random): void {
  const from = random.integer(6, 9) * 60;
  const to = from + random.integer(7, 11) * 60;
  for (let day = 0; day < DAYS; day++) {
    const start = from + random.integer(-8, 8);
    const end = to + random.integer(-8, 8);
    for (let i = 0; i < DAY; i++) level[day * DAY + i] = base + (i >= start && i < end ? height : 0);
  }
}

function fillSine(level: Float64Array, base: number, height: number, random: Random): void {
  const phase = random.between(0, DAY);
  for (let i = 0; i < level.length; i++) level[i] = base + height * Math.sin((2 * Math.PI * (i - phase)) / DAY);
}

/** A slow wave of several days and a straight line: within two hours, hardly more than one sigma. */
function fillDrift(level: Float64Array, base: number, sigma: number, random: Random): void {
  const slope = (sigma * random.between(-3, 3)) / DAY;
  const height = sigma * random.between(2, 8);
  const period = DAY * random.between(4, 8);
  const phase = random.between(0, period);
  for (let i = 0; i < level.length; i++) {
    level[i] = base + slope * i + height * Math.sin((2 * Math.PI * (i - phase)) / period);
  }
}

/** A job of some minutes in every period, begun up to two minutes early or late. */
function fillJob(
  level: Float64Array,
  base: number,
  height: number,
  period: number,
  length: number,
  random: Random,
): void {
  level.fill(base);
  for (let at = random.integer(2, period - 3); at < level.length - length - 2; at += period) {
    const start = at + random.integer(-2, 2);
    for (let i = start; i < start + length; i++) level[i]! += height;
  }
}

/** Places and lengths of events, ten hours apart with some jitter. */
function schedule(kind: EventKind, random: Random): InjectedEvent[] {
  const events: InjectedEvent[] = [];
  for (
    let at = FIRST_EVENT_DAY * DAY + random.integer(60, 600);
    at < DAYS * DAY - 600;
    at += random.integer(480, 720)
  ) {
    const length = kind === 'spike' ? random.integer(1, 6) : kind === 'trend' ? random.integer(60, 240) : 1;
    events.push({ kind, direction: random.chance(0.5) ? 1 : -1, start: at, end: at + length - 1 });
  }
  return events;
}

/** Changes the level for an event. A direction in which there is no room, below zero, is turned round. */
function injector(process: Process, kind: EventKind, random: Random): (event: InjectedEvent) => InjectedEvent {
  const rare = kind === 'spike' ? rareDeviations(process) : { up: 0, down: 0 };
  const { level, sigma, positive } = process;
  let shift = 0;
  return (event) => {
    const { start, end } = event;
    const times = { spike: random.between(1.3, 5), changepoint: random.between(2.5, 10), trend: random.between(4, 15) }[
      kind
    ];
    const sized = (direction: number) => times * (kind === 'spike' ? (direction > 0 ? rare.up : rare.down) : sigma);
    let { direction } = event;
    if (direction > 0 && kind !== 'spike' && shift > 12 * sigma) direction = -1;
    if (direction < 0 && positive && level[end]! - sized(-1) < 0) direction = 1;
    const size = direction * sized(direction);
    const last = kind === 'spike' ? end : level.length - 1;
    for (let i = start; i <= last; i++) {
      level[i]! += kind === 'trend' ? size * Math.min((i - start + 1) / (end - start + 1), 1) : size;
    }
    if (kind !== 'spike') shift += size;
    return { ...event, direction };
  };
}

/** Deviations from the level that one in 10,000 minutes reaches upward and downward. */
function rareDeviations(process: Process): { up: number; down: number } {
  const level = process.level[FIRST_EVENT_DAY * DAY]!;
  const sample = Float64Array.from({ length: 100_000 }, () => process.sample(level)).sort();
  const middle = sample[50_000]!;
  return { up: sample[99_989]! - middle, down: middle - sample[10]! };
}

/** One sample in about two days, far off; kept away from the events. */
function addGlitches(
  values: Float64Array,
  process: Process,
  events: readonly InjectedEvent[],
  random: Random,
): number[] {
  const glitches: number[] = [];
  for (let at = random.integer(0, 2 * DAY); at < values.length; at += random.integer(DAY, 3 * DAY)) {
    if (events.some(({ start, end }) => at > start - 30 && at < end + 60)) continue;
    values[at]! += process.sigma * random.between(10, 40);
    glitches.push(at);
  }
  return glitches;
}

/** Two percent of the minutes and six gaps of ten to sixty minutes. */
function loseSamples(values: Float64Array, random: Random): void {
  for (let i = 0; i < values.length; i++) if (random.chance(0.02)) values[i] = Number.NaN;
  for (let gap = 0; gap < 6; gap++) {
    const from = random.integer(0, values.length - 61);
    values.fill(Number.NaN, from, from + random.integer(10, 60));
  }
}
