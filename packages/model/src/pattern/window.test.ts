/** The window form gives the answers of minute by minute. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { minuteOf } from '../../test/pattern/minute-by-minute.ts';
import { FAMILIES, KINDS, synthetic } from '../../test/pattern/synthetic.ts';
import { evaluatePatternWindow, MACROS } from '../index.ts';

const DAY = 1440;

test('a window judges each of its minutes as if it were alone', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FAMILIES),
      fc.constantFrom(...KINDS),
      fc.nat(500),
      fc.constantFrom(...MACROS),
      fc.double({ min: 0, max: 10, noNaN: true }),
      fc.integer({ min: 0, max: 9 }),
      fc.integer({ min: 0, max: 10 * DAY - 40 }),
      (family, kind, seed, macro, tolerance, phase, begin) => {
        const { values, events } = synthetic(family, kind, seed);
        // Half of the windows lie on an event, where something is to be seen.
        const from = begin % 2 === 0 ? begin : (events[begin % Math.max(events.length, 1)]?.start ?? begin);
        const series = { startMinute: 1_000_000, values };
        const start = 1_000_000 + from;
        const window = evaluatePatternWindow(macro, tolerance, series, start, start + 39, { phase });
        expect(window.startMinute).toBe(start);
        for (let i = 0; i < 40; i += 3) {
          const { state, output } = minuteOf(macro, tolerance, series, start + i, phase);
          expect([window.states[i], window.outputs[i]]).toEqual([state, output]);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('a window may begin anywhere and reach beyond the series', () => {
  const { values } = synthetic('gaussian', 'changepoint', 5);
  const series = { startMinute: 0, values };
  const whole = evaluatePatternWindow('increasing_changepoint', 4, series, -50, values.length + 50);
  expect(whole.states.slice(0, 50).every((state) => state === 'no_data')).toBe(true);
  expect(whole.states.at(-1)).toBe('no_data');
  const part = evaluatePatternWindow('increasing_changepoint', 4, series, 6003, 9001);
  expect(part.states).toEqual(whole.states.slice(6053, 9052));
  expect(part.outputs).toEqual(whole.outputs.slice(6053, 9052));
  expect(evaluatePatternWindow('low_spike', 4, series, 10, 9).states).toEqual([]);
});
