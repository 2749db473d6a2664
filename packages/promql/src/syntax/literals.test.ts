import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatDuration,
  formatNumber,
  parseDuration,
  parseNumber,
  quoteString,
  secondsToMs,
  unescapeString,
} from './literals.ts';

describe('numbers', () => {
  it.each([
    ['1', 1],
    ['1.', 1],
    ['.5', 0.5],
    ['1e3', 1000],
    ['1_000.5_5', 1000.55],
    ['0x1F', 31],
    ['0x_f', 15],
    ['017', 15],
    ['019', 19],
    ['007.5', 7.5],
    ['Inf', Number.POSITIVE_INFINITY],
    ['nAn', Number.NaN],
    ['1e-400', 0],
    ['0x7fffffffffffffff', 2 ** 63],
    ['9007199254740993', 9007199254740992],
  ])('%s', (text, value) => {
    expect(parseNumber(text)).toBe(value);
  });

  it.each([
    '',
    '.',
    '1__0',
    '1_',
    '_1',
    '0x',
    '0xg',
    '1e',
    '1e999',
    '0x8000000000000000',
    '1.2.3',
    'infinity',
    ' 1',
    '1 ',
  ])('refuses "%s"', (text) => {
    expect(parseNumber(text)).toBeUndefined();
  });

  it('prints what reads back as the same value', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        const text = formatNumber(value);
        const read = text.startsWith('-') ? -parseNumber(text.slice(1))! : parseNumber(text);
        expect(read).toBe(value);
      }),
    );
    expect(formatNumber(Number.NaN)).toBe('NaN');
  });
});

describe('durations', () => {
  it.each([
    ['0s', 0],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1y2w3d4h5m6s7ms', 31_536_000_000 + 2 * 604_800_000 + 3 * 86_400_000 + 14_706_007],
    ['90m', 5_400_000],
  ])('%s', (text, ms) => {
    expect(parseDuration(text)).toEqual({ ms });
  });

  it.each([
    ['', 'form'],
    ['5', 'form'],
    ['m', 'form'],
    ['30m1h', 'form'],
    ['1h1h', 'form'],
    ['1.5h', 'form'],
    ['-5m', 'form'],
    ['1H', 'form'],
    ['293y', 'range'],
  ])('refuses "%s"', (text, reason) => {
    expect(parseDuration(text)).toEqual({ reason });
  });

  it.each([
    [0, '0s'],
    [1, '1ms'],
    [90_000, '1m30s'],
    [-5_400_000, '-1h30m'],
    [604_800_000, '1w'],
    [8 * 86_400_000, '8d'],
    [400 * 86_400_000, '400d'],
    [31_536_000_000, '1y'],
  ])('writes %d as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('writes what reads back as the same length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_000_000_000_000 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toEqual({ ms });
      }),
    );
  });

  it('cuts seconds to milliseconds as the server does', () => {
    expect([1.001, 1.0009, -1.0019, 0.0001, 4.035].map(secondsToMs)).toEqual([1001, 1000, -1001, 0, 4035]);
    expect(secondsToMs(1e20)).toBeUndefined();
    expect(secondsToMs(Number.NaN)).toBeUndefined();
  });
});

describe('strings', () => {
  it.each([
    ['a\\nb\\t\\\\', '"', 'a\nb\t\\'],
    ['\\"', '"', '"'],
    ["\\'", "'", "'"],
    ['\\x41\\101\\u0041\\U00000041', '"', 'AAAA'],
    ['\\xe2\\x82\\xac', '"', '€'],
    ['\\xe2\\x82', '"', '\ufffd'],
    ['\\a\\b\\f\\v', '"', '\u0007\b\f\v'],
    ['\\xef\\xbb\\xbfa', '"', '\ufeffa'],
  ])('%s', (body, quote, value) => {
    expect(unescapeString(body, quote)).toEqual({ value });
  });

  it.each([
    ['\\q', 0],
    ['ab\\x4', 2],
    ['\\400', 0],
    ['\\ud800', 0],
    ['\\U00110000', 0],
    ["\\'", 0],
    ['a\\', 1],
  ])('refuses %s', (body, at) => {
    expect(unescapeString(body, '"')).toMatchObject({ at });
  });

  it('quotes what reads back as the same text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
        (text) => {
          const quoted = quoteString(text);
          expect(quoted).toMatch(/^"[^\n]*"$/);
          expect(unescapeString(quoted.slice(1, -1), '"')).toEqual({ value: text });
        },
      ),
    );
  });
});
