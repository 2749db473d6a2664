import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareLabels, formatLabels, labelsOf, labelValue, only, withLabels, without, withoutName } from './labels.ts';
import { formatPlain, formatValue, parseValue } from './numbers.ts';

const record = fc.dictionary(fc.oneof(fc.constantFrom('a', 'b', '__name__', 'le'), fc.string()), fc.string());

describe('label sets', () => {
  test('are equal exactly when their keys are', () => {
    fc.assert(
      fc.property(record, record, (a, b) => {
        const [x, y] = [labelsOf(a), labelsOf(b)];
        const same = JSON.stringify([x.names, x.values]) === JSON.stringify([y.names, y.values]);
        expect(x.key === y.key).toBe(same);
        expect(compareLabels(x, y) === 0).toBe(same);
        expect(Math.sign(compareLabels(x, y)) + Math.sign(compareLabels(y, x))).toBe(0);
      }),
    );
    expect(labelsOf({ a: '1', b: '2' }).key).toBe(
      labelsOf([
        ['b', '2'],
        ['a', '1'],
      ]).key,
    );
    expect(labelsOf({ a: 'b1:c' }).key).not.toBe(labelsOf({ a: 'b', c: '' }).key);
  });

  test('an empty value is no label', () => {
    expect(labelsOf({ a: '', b: '1' }).names).toEqual(['b']);
    expect(withLabels(labelsOf({ a: '1', b: '2' }), [['a', '']]).names).toEqual(['b']);
    expect(labelValue(labelsOf({}), 'a')).toBe('');
  });

  test('keep and drop labels', () => {
    const labels = labelsOf({ __name__: 'up', a: '1', b: '2' });
    expect(formatLabels(labels)).toBe('up{a="1", b="2"}');
    expect(formatLabels(withoutName(labels))).toBe('{a="1", b="2"}');
    expect(formatLabels(only(labels, ['b', 'c']))).toBe('{b="2"}');
    expect(formatLabels(without(labels, ['b', 'a']))).toBe('up');
    expect(without(labels, ['x'])).toBe(labels);
  });
});

describe('numbers', () => {
  test.each([
    [1e21, '1000000000000000000000', '1e+21'],
    [1.5e22, '15000000000000000000000', '1.5e+22'],
    [1e-7, '0.0000001', '1e-07'],
    [1.25e-7, '0.000000125', '1.25e-07'],
    [1e-100, `0.${'0'.repeat(99)}1`, '1e-100'],
    [0.000001, '0.000001', '0.000001'],
    [123.456, '123.456', '123.456'],
    [-0, '-0', '-0'],
    [Number.NaN, 'NaN', 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf', '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf', '-Inf'],
    [-1e300, `-1${'0'.repeat(300)}`, '-1e+300'],
  ])('%d', (value, plain, api) => {
    expect(formatPlain(value)).toBe(plain);
    expect(formatValue(value)).toBe(api);
  });

  test('what is written reads back the same', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(parseValue(formatPlain(value))).toBe(value);
        expect(parseValue(formatValue(value))).toBe(value);
        expect(formatPlain(value)).not.toContain('e');
      }),
    );
  });

  test.each(['', ' 1', '1 ', 'x', '0x', '0x1', '1e', '--1', '.', 'infin', 'nano', '1_0'])('%j is no number', (text) => {
    expect(parseValue(text)).toBeUndefined();
  });

  test('reads hexadecimal floating point and infinities', () => {
    expect(parseValue('0x1.8p1')).toBe(3);
    expect(parseValue('-0X.8P0')).toBe(-0.5);
    expect(parseValue('+Infinity')).toBe(Number.POSITIVE_INFINITY);
    expect(parseValue('-inf')).toBe(Number.NEGATIVE_INFINITY);
  });
});
