/**
 * How well the macros see known events in synthetic series, with seeds that nothing was chosen by: a bounded form of
 * `npm run bench -- patterns`, with the same targets.
 */
import { expect, test } from 'vitest';
import { Random } from '../../test/pattern/random.ts';
import { addScore, delay, emptyScore, f1, falseAlarmsADay, recall, type Score } from '../../test/pattern/score.ts';
import {
  DAY,
  DAYS,
  type EventKind,
  FAMILIES,
  FIRST_EVENT_DAY,
  type InjectedEvent,
  synthetic,
} from '../../test/pattern/synthetic.ts';
import { evaluatePatternWindow, type Macro } from '../index.ts';

const SEEDS = [9001, 9002];
const FROM = FIRST_EVENT_DAY * DAY;
const TO = DAYS * DAY;

const MACRO_OF: Readonly<Record<EventKind, readonly (readonly [Macro, 1 | -1])[]>> = {
  spike: [
    ['high_spike', 1],
    ['low_spike', -1],
  ],
  changepoint: [
    ['increasing_changepoint', 1],
    ['decreasing_changepoint', -1],
  ],
  trend: [
    ['increasing_trend', 1],
    ['decreasing_trend', -1],
  ],
};

interface Truth {
  readonly values: Float64Array;
  readonly events: readonly InjectedEvent[];
  readonly glitches: readonly number[];
}

function scoreOf(kind: EventKind, set: readonly Truth[], from = FROM, to = TO): Score {
  const score = emptyScore();
  for (const truth of set) {
    for (const [macro, direction] of MACRO_OF[kind]) {
      const series = { startMinute: 0, values: truth.values };
      const { states } = evaluatePatternWindow(macro, 5, series, from, to - 1);
      addScore(score, (i) => states[i - from] === 'bad', from, to, { kind, direction }, truth);
    }
  }
  return score;
}

const setOf = (kind: EventKind) => FAMILIES.flatMap((family) => SEEDS.map((seed) => synthetic(family, kind, seed)));

test('spikes', () => {
  const set = setOf('spike');
  const score = scoreOf('spike', set);
  expect(score.events).toBeGreaterThan(150);
  expect(f1(score)).toBeGreaterThanOrEqual(0.72);
  expect(recall(score)).toBeGreaterThanOrEqual(0.68);
  expect(falseAlarmsADay(score)).toBeLessThanOrEqual(0.25);
  expect(falseAlarmsADay(scoreOf('spike', set, 0, DAY))).toBeLessThanOrEqual(0.6);
});

test('changepoints', () => {
  const set = setOf('changepoint');
  const score = scoreOf('changepoint', set);
  expect(score.events).toBeGreaterThan(150);
  expect(f1(score)).toBeGreaterThanOrEqual(0.89);
  expect(falseAlarmsADay(score)).toBeLessThanOrEqual(0.03);
  expect(delay(score, 0.5)).toBeLessThanOrEqual(8);
  expect(delay(score, 0.9)).toBeLessThanOrEqual(12);
  expect(falseAlarmsADay(scoreOf('changepoint', set, 0, DAY))).toBeLessThanOrEqual(0.4);
});

test('trends', () => {
  const set = setOf('trend');
  const score = scoreOf('trend', set);
  expect(score.events).toBeGreaterThan(150);
  expect(f1(score)).toBeGreaterThanOrEqual(0.89);
  expect(falseAlarmsADay(score)).toBeLessThanOrEqual(0.02);
  expect(delay(score, 0.5)).toBeLessThanOrEqual(80);
  expect(falseAlarmsADay(scoreOf('trend', set, 0, DAY))).toBeLessThanOrEqual(0.2);
});

test('noise alone: hardly an alarm in sixty days of it', () => {
  const random = new Random(77);
  const noise = () =>
    Array.from({ length: 10 }, () => ({
      values: Float64Array.from({ length: TO }, () => 100 + 10 * random.normal()),
      events: [],
      glitches: [],
    }));
  for (const kind of ['spike', 'changepoint', 'trend'] as const) {
    expect(scoreOf(kind, noise()).falseAlarms).toBeLessThanOrEqual(1);
  }
});
