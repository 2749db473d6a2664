/** The expression of pattern rules: awkward indicator names read right. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nameArbitrary } from '../../test/arbitrary.ts';
import { MACROS } from '../model.ts';
import { readExpression } from './expression.ts';

test('macro(tolerance, name) is read for every name, with any white space', () => {
  const space = fc.constantFrom('', ' ', '  ', '\n  ', '\t');
  const spaces = fc.tuple(space, space, space, space, space, space);
  const tolerance = fc.double({ min: 0, max: 10, noNaN: true });
  fc.assert(
    fc.property(
      fc.constantFrom(...MACROS),
      tolerance,
      nameArbitrary,
      spaces,
      (macro, number, name, [a, b, c, d, e, f]) => {
        const text = `${a}${macro}${b}(${c}${number}${d},${e}${name}${f})${a}`;
        const read = readExpression(text, { indicator: name, names: new Set([name]), namesAreComplete: true });
        expect(read).toEqual({ kind: 'pattern', pattern: { macro, tolerance: number + 0, indicator: name } });
      },
    ),
  );
});

test('the name of the indicator alone means a static rule, even if it looks like a macro', () => {
  fc.assert(
    fc.property(nameArbitrary, (name) => {
      const scope = { indicator: name, names: new Set([name]), namesAreComplete: true };
      expect(readExpression(` ${name} `, scope)).toEqual({ kind: 'static' });
    }),
  );
});

test('any text is read without throwing, and a problem points into it', () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^[a-z_]{0,12}\(?[0-9., a-z()]{0,20}\)?$/));
  fc.assert(
    fc.property(text, (expression) => {
      const read = readExpression(expression, { indicator: 'x', names: new Set(['x', 'y']), namesAreComplete: true });
      if (read.kind !== 'problem') return;
      const { from, to } = read.problem;
      expect(from >= 0 && from <= to && to <= Math.max(expression.length, 1)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('a wrong rule or indicator list does not make the expression wrong', () => {
  const scope = { indicator: undefined, names: new Set(['x']), namesAreComplete: false };
  expect(readExpression('high_spike(2, unknown)', scope).kind).toBe('pattern');
  expect(readExpression('high_spike(2, x)', scope).kind).toBe('pattern');
  expect(readExpression('x', scope).kind).toBe('static');
});
