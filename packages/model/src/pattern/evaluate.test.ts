/** The six macros minute by minute: known cases, floors, missing data, symmetry, and that nothing is ever NaN. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fetched, historyFor, minuteOf } from '../../test/pattern/minute-by-minute.ts';
import { Random } from '../../test/pattern/random.ts';
import {
  buildPatternHistory,
  evaluatePattern,
  evaluatePatternWindow,
  MACROS,
  type Macro,
  type MinuteSeries,
  patternHistoryMinute,
  patternReach,
} from '../index.ts';

const DAY = 1440;
const START = 28_000_000;

/** Five quiet days of level and noise, then a sixth with `change(minutes after its begin)` on top. */
function sixDays(noise: (random: Random) => number, change: (after: number) => number, seed = 1): MinuteSeries {
  const random = new Random(seed);
  return {
    startMinute: START,
    values: Float64Array.from({ length: 6 * DAY }, (_, i) => noise(random) + change(i - 5 * DAY)),
  };
}

const gaussian = (random: Random) => 1000 + 10 * random.normal();

/** Bad minutes after the begin of the sixth day, of a window that begins on the third. */
function badAfter(macro: Macro, tolerance: number, series: MinuteSeries): number[] {
  const from = series.startMinute + 2 * DAY;
  const { states } = evaluatePatternWindow(macro, tolerance, series, from, series.startMinute + 6 * DAY - 1);
  return states.flatMap((state, i) => (state === 'bad' ? [i - 3 * DAY] : []));
}

const ends = (minutes: readonly number[]) => [minutes[0], minutes.at(-1), minutes.length];

test('nothing, then ten a minute: a spike of seven minutes and a changepoint from the eighth', () => {
  const series = sixDays(
    () => 0,
    (after) => (after >= 0 ? 10 : 0),
  );
  expect(ends(badAfter('high_spike', 5, series))).toEqual([0, 6, 7]);
  expect(badAfter('increasing_changepoint', 5, series)[0]).toBe(7);
  expect(badAfter('low_spike', 5, series)).toEqual([]);
  expect(badAfter('decreasing_changepoint', 5, series)).toEqual([]);
});

test('a count of one after nothing is calm at any tolerance, five are bad at tolerance 5', () => {
  const of = (height: number) =>
    sixDays(
      () => 0,
      (after) => (after === 0 ? height : 0),
    );
  expect(badAfter('high_spike', 0, of(1))).toEqual([]);
  expect(badAfter('high_spike', 5, of(5))).toEqual([0]);
  expect(badAfter('high_spike', 5, of(4))).toEqual([]);
});

test('a constant 100 with one 102 is calm; half a percent of the level is the least noise', () => {
  expect(
    badAfter(
      'high_spike',
      5,
      sixDays(
        () => 100,
        (after) => (after === 3 ? 2 : 0),
      ),
    ),
  ).toEqual([]);
  const of = (height: number) =>
    sixDays(
      () => 100.5,
      (after) => (after === 3 ? height : 0),
    );
  expect(badAfter('high_spike', 5, of(2.5))).toEqual([]);
  expect(badAfter('high_spike', 5, of(2.52))).toEqual([3]);
});

test('a ratio that leaves zero is seen, although it moves by less than one', () => {
  expect(
    badAfter(
      'high_spike',
      5,
      sixDays(
        () => 0,
        (after) => (after === 0 ? 0.2 : 0),
      ),
    ),
  ).toEqual([0]);
});

test('a spike of 12 sigma and six minutes: six bad minutes and nothing else', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const series = sixDays(gaussian, (after) => (after >= 0 && after < 6 ? 120 : 0), seed);
    expect(badAfter('high_spike', 5, series)).toEqual([0, 1, 2, 3, 4, 5]);
    for (const macro of MACROS) if (macro !== 'high_spike') expect(badAfter(macro, 5, series)).toEqual([]);
  }
});

test('a step of 10 sigma: a spike at first, a changepoint for half an hour, never a trend', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const series = sixDays(gaussian, (after) => (after >= 0 ? 100 : 0), seed);
    const [first, last, count] = ends(badAfter('increasing_changepoint', 5, series));
    expect(first).toBe(7);
    expect(last).toBeGreaterThanOrEqual(36);
    expect(last).toBeLessThanOrEqual(46);
    expect(count).toBeGreaterThanOrEqual(30);
    const spike = badAfter('high_spike', 5, series);
    expect(spike.slice(0, 6)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(spike.length).toBeLessThanOrEqual(7);
    expect(badAfter('increasing_trend', 5, series)).toEqual([]);
  }
});

test('a ramp of 10 sigma over three hours: a trend from about +88 to +209, never a spike', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const series = sixDays(gaussian, (after) => Math.max(0, Math.min(after / 180, 1)) * 100, seed);
    const [first, last, count] = ends(badAfter('increasing_trend', 5, series));
    expect(first).toBeGreaterThanOrEqual(70);
    expect(first).toBeLessThanOrEqual(95);
    expect(last).toBeGreaterThanOrEqual(195);
    expect(last).toBeLessThanOrEqual(225);
    expect(count).toBeGreaterThanOrEqual(100);
    expect(badAfter('high_spike', 5, series)).toEqual([]);
    expect(badAfter('decreasing_trend', 5, series)).toEqual([]);
  }
});

test('what comes every day at this time is calm, with three days of it', () => {
  const random = new Random(3);
  const batch = (days: number) => ({
    startMinute: START,
    values: Float64Array.from({ length: 6 * DAY }, (_, i) => {
      const day = Math.floor(i / DAY);
      const on = i % DAY >= 600 && i % DAY < 605 && (day === 5 || day >= 5 - days);
      return 1000 + 10 * random.normal() + (on ? 200 : 0);
    }),
  });
  const at = START + 5 * DAY + 602;
  const seen = (days: number) => minuteOf('high_spike', 5, batch(days), at);
  expect(seen(0).state).toBe('bad');
  expect(seen(1).state).toBe('bad');
  expect(seen(5).state).toBe('calm');
  expect(seen(5).explanation.held_back).toBe('usual');
  expect(seen(5).explanation.seasonal_days).toBe(5);
});

test('the tolerance takes decimals, and a larger one is never easier', () => {
  const series = sixDays(gaussian, (after) => (after === 0 ? 60 : 0));
  const score = minuteOf('high_spike', 0, series, START + 5 * DAY).explanation.score_z!;
  const edge = (score - 3) / 0.4;
  expect(edge).toBeGreaterThan(0);
  expect(edge).toBeLessThan(10);
  expect(minuteOf('high_spike', edge - 0.001, series, START + 5 * DAY).state).toBe('bad');
  expect(minuteOf('high_spike', edge + 0.001, series, START + 5 * DAY).state).toBe('calm');
  expect(minuteOf('high_spike', 2.5, series, START + 5 * DAY).explanation.k).toBe(4);
});

test('a tolerance outside 0 to 10, and a history of another macro, are refused', () => {
  const series = sixDays(gaussian, () => 0);
  const at = START + 5 * DAY;
  for (const tolerance of [-0.1, 10.1, Number.NaN]) {
    expect(() => minuteOf('low_spike', tolerance, series, at)).toThrow(RangeError);
  }
  expect(() => evaluatePattern('low_spike', 5, series, historyFor('high_spike', series, at), at)).toThrow(TypeError);
});

test('the output is the distance from the baseline in the unit of the series', () => {
  const series = sixDays(gaussian, (after) => (after === 0 ? -300 : 0));
  const { output, explanation } = minuteOf('low_spike', 5, series, START + 5 * DAY);
  expect(explanation.baseline).toBeCloseTo(1000, -1);
  expect(explanation.deviation).toBe(explanation.value! - explanation.baseline!);
  expect(output).toBe(-explanation.deviation!);
  expect(explanation.bound).toBeCloseTo(explanation.baseline! - 5 * explanation.noise_width!, 9);
});

test('the time of a change is its first minute', () => {
  const series = sixDays(gaussian, (after) => (after >= 0 ? 100 : 0));
  for (const after of [7, 15, 30]) {
    const { state, explanation } = minuteOf('increasing_changepoint', 5, series, START + 5 * DAY + after);
    expect(state).toBe('bad');
    expect(explanation.change_time).toBe(START + 5 * DAY);
  }
});

test('a missing minute is no data and too few samples are insufficient; neither is bad', () => {
  const series = sixDays(gaussian, (after) => (after >= 0 ? 500 : 0));
  const at = START + 5 * DAY + 9;
  const without = (from: number, to: number): MinuteSeries => {
    const values = series.values.slice();
    values.fill(Number.NaN, from - START, to - START + 1);
    return { startMinute: START, values };
  };
  for (const macro of MACROS) {
    const missing = minuteOf(macro, 0, without(at, at), at);
    expect(missing).toMatchObject({ state: 'no_data', output: 0, explanation: { value: null, score_z: null } });
    expect(minuteOf(macro, 0, { startMinute: START, values: new Float64Array(0) }, at).state).toBe('no_data');
    expect(minuteOf(macro, 0, without(at - 119, at - 1), at)).toMatchObject({ state: 'insufficient', output: 0 });
  }
  expect(minuteOf('high_spike', 5, without(at - 60, at - 31), at).state).not.toBe('insufficient');
  expect(minuteOf('high_spike', 5, without(at - 60, at - 30), at).state).toBe('insufficient');
  expect(minuteOf('increasing_changepoint', 5, without(at - 9, at - 6), at).state).toBe('bad');
  expect(minuteOf('increasing_changepoint', 5, without(at - 9, at - 5), at).state).toBe('insufficient');
});

test('a series that begins is judged by its first hours alone', () => {
  const full = sixDays(gaussian, (after) => (after === 0 ? 200 : 0));
  const young = { startMinute: START + 5 * DAY - 100, values: full.values.slice(5 * DAY - 100) };
  const { state, explanation } = minuteOf('high_spike', 5, young, START + 5 * DAY);
  expect(state).toBe('bad');
  expect(explanation).toMatchObject({ width_source: '1h', seasonal_days: 0 });
  expect(explanation.history_hours).toBeLessThan(6);
});

test('constant series are calm for every macro at tolerance 0', () => {
  for (const level of [0, 1, 100, -3, 0.1, 1e12, 1e-9]) {
    for (const macro of MACROS)
      expect(
        badAfter(
          macro,
          0,
          sixDays(
            () => level,
            () => 0,
          ),
        ),
      ).toEqual([]);
  }
});

const awkward: Readonly<Record<string, (random: Random, i: number) => number>> = {
  'large with noise': (random) => 1e12 + random.normal(),
  'tiny with noise': (random) => 1e-9 * (1 + 0.1 * random.normal()),
  negative: (random) => -500 + 10 * random.normal(),
  sawtooth: (_, i) => i % 30,
  'all missing': () => Number.NaN,
  huge: (random) => 1e299 * random.normal(),
};

test('awkward series raise no alarm once there are days of them', () => {
  for (const next of Object.values(awkward)) {
    const random = new Random(9);
    const values = Float64Array.from({ length: 6 * DAY }, (_, i) => next(random, i));
    for (const macro of MACROS) expect(badAfter(macro, 5, { startMinute: START, values })).toEqual([]);
  }
});

/** A few hours of anything, repeated over nine days with changes, so that every part has something to chew. */
const anySeries = fc
  .record({
    pattern: fc.array(
      fc.oneof(
        fc.integer({ min: -3, max: 3 }),
        fc.double({ min: -1e3, max: 1e3, noNaN: true }),
        fc.constantFrom(Number.NaN, 0, 0, 1e300, -1e300, 5e-324, Number.POSITIVE_INFINITY),
      ),
      { minLength: 1, maxLength: 200 },
    ),
    days: fc.integer({ min: 0, max: 8 }),
    step: fc.double({ min: -1e4, max: 1e4, noNaN: true }),
    seed: fc.nat(1000),
  })
  .map(({ pattern, days, step, seed }) => {
    const random = new Random(seed);
    const length = days * DAY + 200;
    const noise = random.chance(0.5) ? 1 : 0;
    return Float64Array.from(
      { length },
      (_, i) => pattern[i % pattern.length]! + noise * random.normal() + (i > length - 30 ? step : 0),
    );
  });

test('no number in an answer is NaN or infinite, whatever the samples', () => {
  fc.assert(
    fc.property(anySeries, fc.constantFrom(...MACROS), fc.integer({ min: 0, max: 60 }), (values, macro, back) => {
      const series = { startMinute: START, values };
      const answer = minuteOf(macro, 0, series, START + values.length - 1 - back);
      for (const value of [answer.output, ...Object.values(answer.explanation)]) {
        if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
      }
      expect(answer.output > 0).toBe(answer.state === 'bad');
    }),
    { numRuns: 150 },
  );
});

const MIRRORS = {
  high_spike: 'low_spike',
  increasing_changepoint: 'decreasing_changepoint',
  increasing_trend: 'decreasing_trend',
} as const;

/** Series with events at their end, and the minutes around. */
const eventful = fc
  .record({
    seed: fc.nat(10_000),
    height: fc.double({ min: -150, max: 150, noNaN: true }),
    length: fc.integer({ min: 1, max: 240 }),
  })
  .map(({ seed, height, length }) =>
    sixDays(gaussian, (after) => (after < 0 ? 0 : height * Math.min((after + 1) / length, 1)), seed),
  );

test('a falling pattern is the rising one of the series upside down', () => {
  fc.assert(
    fc.property(
      eventful,
      fc.constantFrom('high_spike', 'increasing_changepoint', 'increasing_trend'),
      fc.nat(200),
      (series, macro, after) => {
        const at = START + 5 * DAY + after;
        const up = minuteOf(macro as keyof typeof MIRRORS, 3, series, at);
        const upsideDown = { startMinute: START, values: series.values.map((value) => -value) };
        const down = minuteOf(MIRRORS[macro as keyof typeof MIRRORS], 3, upsideDown, at);
        expect(down.state).toBe(up.state);
        expect(down.output).toBe(up.output);
        expect(down.explanation.score_z).toBe(up.explanation.score_z);
        expect(down.explanation.deviation).toBe(-up.explanation.deviation! + 0);
      },
    ),
    { numRuns: 60 },
  );
});

test('a series in another unit has the same scores, and outputs in that unit', () => {
  const factor = fc.double({ min: -6, max: 6, noNaN: true }).map((exponent) => 10 ** exponent);
  fc.assert(
    fc.property(eventful, factor, fc.constantFrom(...MACROS), fc.nat(200), (series, times, macro, after) => {
      const at = START + 5 * DAY + after;
      const one = minuteOf(macro, 3, series, at);
      const other = minuteOf(macro, 3, { startMinute: START, values: series.values.map((value) => value * times) }, at);
      const close = (a: number, b: number, size: number) => expect(Math.abs(a - b)).toBeLessThanOrEqual(1e-9 * size);
      close(other.explanation.score_z!, one.explanation.score_z!, Math.max(Math.abs(one.explanation.score_z!), 1));
      close(other.explanation.noise_width!, times * one.explanation.noise_width!, times * 1000);
      close(other.explanation.deviation!, times * one.explanation.deviation!, times * 1000);
      expect(other.state).toBe(one.state);
    }),
    { numRuns: 60 },
  );
});

test('samples beyond the reach change nothing, and slices may be longer than asked', () => {
  const series = sixDays(gaussian, (after) => (after === 0 ? 90 : 0));
  const at = START + 5 * DAY;
  for (const macro of MACROS) {
    const builtAt = patternHistoryMinute(at, 7);
    const history = buildPatternHistory(
      macro,
      series,
      Array.from({ length: 7 }, () => series),
      builtAt,
    );
    expect(history).toEqual({ ...historyFor(macro, series, at, 7), days: expect.anything() });
    expect(evaluatePattern(macro, 3, series, history, at)).toEqual(minuteOf(macro, 3, series, at, 7));
  }
});

test('a history is small and serves ten minutes', () => {
  expect([0, 9, 10, 19, -1].map((minute) => patternHistoryMinute(minute))).toEqual([0, 0, 10, 10, -10]);
  expect([3, 12, 13].map((minute) => patternHistoryMinute(minute, 3))).toEqual([3, 3, 13]);
  const series = sixDays(gaussian, () => 0);
  for (const macro of MACROS) {
    const reach = patternReach(macro);
    expect(reach.sliceMinutes).toBe(reach.sliceBefore + reach.sliceAfter + 1);
    const history = historyFor(macro, series, START + 5 * DAY);
    expect(history.days.reduce((bytes, day) => bytes + day.byteLength, 0)).toBeLessThan(3000);
    const kept = 8 * (reach.historyMinutes + reach.previousDays * reach.sliceMinutes);
    expect(kept).toBeLessThan(40_000);
    expect(fetched(series, START - 10, START - 1)).toBeUndefined();
  }
});
