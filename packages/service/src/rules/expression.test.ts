import { describe, expect, it } from 'vitest';
import { parseExpression, renameIndicator } from './expression.ts';

describe('expression', () => {
  it.each([undefined, '', '  ', '5xx Status', ' 5xx Status '])('%j is a static rule', (text) => {
    expect(parseExpression(text, '5xx Status')).toEqual({
      algorithm: 'static_threshold',
      indicator: '',
      text: '5xx Status',
    });
  });

  it.each([
    ['low_spike(0.5, availability)', 'low_spike', 'availability', 'low_spike(0.5, availability)'],
    ['high_spike( 2 ,5xx Status )', 'high_spike', '5xx Status', 'high_spike(2, 5xx Status)'],
    ['increasing_changepoint(10, a)', 'inc_changepoint', 'a', 'increasing_changepoint(10, a)'],
    ['decreasing_changepoint(0, a)', 'dec_changepoint', 'a', 'decreasing_changepoint(0, a)'],
    ['increasing_trend(9.0, 4xx, in %)', 'inc_trend', '4xx, in %', 'increasing_trend(9, 4xx, in %)'],
    ['decreasing_trend(.25, p99 (ms))', 'dec_trend', 'p99 (ms)', 'decreasing_trend(0.25, p99 (ms))'],
  ])('%j is %s over %j', (text, algorithm, indicator, stored) => {
    expect(parseExpression(text, 'other')).toEqual({ algorithm, indicator, text: stored });
  });

  it('takes a name that looks like a macro for the name it is', () => {
    const name = 'high_spike(2, x)';
    expect(parseExpression(name, name)).toMatchObject({ algorithm: 'static_threshold', text: name });
  });

  it.each([
    'Errors + Latency',
    'avg(2, a)',
    'high_spike(a, 2)',
    'high_spike(-1, a)',
    'high_spike(10.5, a)',
    'high_spike(2 a)',
  ])('%j is refused with a reason', (text) => {
    expect(parseExpression(text, 'a')).toHaveProperty('problem', expect.any(String));
  });

  it('follows a renamed indicator', () => {
    expect(renameIndicator('Errors', 'Errors', 'Failures')).toBe('Failures');
    expect(renameIndicator('high_spike(2.5, Errors)', 'Errors', 'Failures')).toBe('high_spike(2.5, Failures)');
    expect(renameIndicator('high_spike(2, Latency)', 'Errors', 'Failures')).toBe('high_spike(2, Latency)');
  });
});
