import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAlertCondition, formatCondition, parseAlertCondition, parseCondition } from './condition.ts';

const normalise = (text: string) => {
  const condition = parseCondition(text);
  return condition && formatCondition(condition);
};

describe('condition', () => {
  it.each([
    ['expr > 100.000000', 'expr > 100.000000'],
    ['expr>100', 'expr > 100.000000'],
    ['  expr   >=\t1e2 ', 'expr >= 100.000000'],
    ['expr <= .5', 'expr <= 0.500000'],
    ['expr < -3.', 'expr < -3.000000'],
    ['expr == +7', 'expr == 7.000000'],
    ['expr != -0', 'expr != 0.000000'],
    ['expr > 0.0000001', 'expr > 1e-7'],
    ['expr > 0.1234567', 'expr > 0.1234567'],
    ['expr > 1e21', 'expr > 1e+21'],
    ['expr > 123456789.123456', 'expr > 123456789.123456'],
  ])('%j is stored as %j', (text, stored) => {
    expect(normalise(text)).toBe(stored);
  });

  it.each([
    '',
    'expr',
    'expr >',
    'expr => 5',
    'value > 5',
    'expr > five',
    'expr > 5 6',
    'expr > 5%',
    'expr > 1e999',
    'expr > 0x10',
    'expr > NaN',
    'expr > Infinity',
    'expr > 5; drop',
    '> 5',
  ])('%j is none', (text) => {
    expect(parseCondition(text)).toBeUndefined();
  });

  it('keeps every finite number exactly', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (threshold) => {
        const stored = formatCondition({ operator: '<', threshold });
        expect(parseCondition(stored)).toEqual({ operator: '<', threshold: threshold === 0 ? 0 : threshold });
        expect(normalise(stored)).toBe(stored);
      }),
    );
  });
});

describe('alert condition', () => {
  it.each([
    ['count_true(result) >= 5', 5],
    ['count_true( result )>=12', 12],
    [' count_true (result) >= 5.0 ', 5],
  ])('%j asks for %d bad minutes', (text, minutes) => {
    expect(parseAlertCondition(text)).toBe(minutes);
  });

  it.each([
    'count_true(result) > 5',
    'count_true(result) >= 2.5',
    'count_true(result) >= -1',
    'count(result) >= 5',
    '5',
    '',
  ])('%j is none', (text) => {
    expect(parseAlertCondition(text)).toBeUndefined();
  });

  it('reads what it writes', () => {
    expect(parseAlertCondition(formatAlertCondition(1440))).toBe(1440);
  });
});
