/** The sentences of alerts and previews. */
import { expect, test } from 'vitest';
import { minuteOf } from '../../test/pattern/minute-by-minute.ts';
import { Random } from '../../test/pattern/random.ts';
import { MACROS, type Macro, patternSentence } from '../index.ts';

const DAY = 1440;
/** A minute at 00:00 UTC, five days after the begin of the series. */
const EVENT = 20_000 * DAY;

function sentence(macro: Macro, level: number, change: (after: number) => number, after: number, days = 5): string {
  const random = new Random(4);
  const values = Float64Array.from(
    { length: days * DAY + 300 },
    (_, i) => Math.round(level + 2 * random.normal()) + change(i - days * DAY),
  );
  const { explanation } = minuteOf(macro, 5, { startMinute: EVENT - days * DAY, values }, EVENT + after);
  return patternSentence(explanation, '5xx', 'rpm');
}

test('a bad minute is told with value, score, baseline and why the limit is where it is', () => {
  expect(sentence('high_spike', 30, (after) => (after === 0 ? 60 : 0), 0)).toMatch(
    /^5xx rose to \d+ rpm, \d+\.\d noise widths above the 1 h median 30 \(limit 5\.0; noise width [\d.]+ from the (hour before|last 24 h); not seen at this hour on 4 previous days\)\.$/,
  );
  expect(sentence('decreasing_changepoint', 300, (after) => (after >= 0 ? -50 : 0), 12)).toMatch(
    /^5xx fell from 300 to 2\d\d(\.5)? rpm at 00:00 UTC and stayed there, \d+\.\d noise widths below its earlier level \(limit 5\.0; /,
  );
  expect(sentence('increasing_trend', 300, (after) => (after >= 0 ? after / 3 : 0), 120)).toMatch(
    /^5xx rose steadily from [\d.]+ to [\d.]+ rpm in 2 h \([\d.]+ rpm an hour\), \d+\.\d noise widths \(/,
  );
});

test('a young series says so', () => {
  expect(sentence('high_spike', 30, (after) => (after === 0 ? 60 : 0), 0, 1)).toContain('no previous days known');
  expect(sentence('high_spike', 30, (after) => (after === 0 ? 60 : 0), 0, 2)).toContain('1 of 3 previous days known');
});

test('a calm minute tells why it is calm', () => {
  expect(sentence('high_spike', 30, () => 0, 2)).toMatch(/^5xx is calm at \d+ rpm: /);
  expect(sentence('increasing_trend', 300, (after) => (after >= 0 ? 60 : 0), 60)).toMatch(
    /of deviation, but (a single step explains it better than a slope|the change is not spread over the two hours) \(/,
  );
});

test('missing samples are told as such', () => {
  expect(sentence('high_spike', 30, () => Number.NaN, 2)).toBe('5xx has no data at this minute.');
  const gap = (after: number) => (after < 0 && after > -200 ? Number.NaN : 0);
  expect(sentence('high_spike', 30, gap, 2)).toBe('5xx has too few samples before this minute for high_spike.');
});

test('every macro has a sentence that ends, without NaN, null or undefined', () => {
  for (const macro of MACROS) {
    for (const height of [-60, 0, 60]) {
      for (const after of [0, 9, 100]) {
        const text = sentence(macro, 100, (past) => (past >= 0 ? height : 0), after);
        expect(text).toMatch(/^5xx .*\.$/);
        expect(text).not.toMatch(/NaN|null|undefined|Infinity| {2}| \.|-0 /);
      }
    }
  }
});
