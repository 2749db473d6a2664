import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { queryArbitrary } from '../../test/query-arbitrary.ts';
import type { Filter, Query } from './ast.ts';
import { createMatcher } from './match.ts';
import { parseQuery } from './parse.ts';
import { printQuery } from './print.ts';
import { runQuery } from './run.ts';
import type { FieldValue } from './value.ts';

function parsed(text: string): Query {
  const result = parseQuery(text);
  if (result.problem) throw new Error(`${text}: ${result.problem.message}`);
  return result.query;
}

function withoutSpans(query: Query): unknown {
  return JSON.parse(JSON.stringify(query, (key, value) => (key === 'span' ? undefined : value)));
}

const record: Record<string, FieldValue> = {
  body: 'GET shop.example.com/api/v1/cart 503 Checkout-API said: Connection refused (user_42)',
  status: 503,
  method: 'GET',
  path: '/api/v1/cart',
  bytes: 1234n,
  ratio: '0.5',
  at: 1795132800000000001n,
  cached: false,
  tags: ['Edge', 'eu', 7],
  nothing: null,
  empty: '',
  headers: { accept: '*/*' },
};
const matches = (text: string) => createMatcher(parsed(text).filter)((field) => record[field]);

describe('parse', () => {
  test.each([
    ['error -healthcheck', 'error NOT healthcheck'],
    ['a AND b OR c', 'a b OR c'],
    ['a (b OR c)', 'a (b OR c)'],
    ['NOT (a b)', 'NOT (a b)'],
    ['service:checkout status:>=500', 'service:checkout status:>=500'],
    ['path:/api/* duration:[500 TO *]', 'path:/api/* duration:[500 TO *]'],
    ['user:(42 OR 43) NOT bot:true', '(user:42 OR user:43) NOT bot:true'],
    ['user:(42 43)', 'user:42 OR user:43'],
    ['ua:~"curl/\\d+\\.[0-9]"', 'ua:~"curl/\\\\d+\\\\.[0-9]"'],
    ['~"timeout|refused"', '~"timeout|refused"'],
    ['ray:"8f3a\\"x"', 'ray:"8f3a\\"x"'],
    ['"field with space":x', '"field with space":x'],
    ['a:-5', 'a:\\-5'],
    ['referer:https://x.example/?a=1:2', 'referer:https\\://x.example/?a=1\\:2'],
    ['field:*', 'field:*'],
    ['* | stats count()', '* | stats count()'],
    ['| stats count()', '* | stats count()'],
    [
      'a|stats count() as n, p95(ms) by host, status|sort n desc|limit 5',
      'a | stats count() as n, p95(ms) by (host, status) | sort n desc | limit 5',
    ],
    ['a | stats count() by (x) | sort by (count() desc)', 'a | stats count() by (x) | sort "count()" desc'],
    ['"OR" \\AND', '"OR" \\AND'],
    ['', ''],
  ])('%s', (text, printed) => {
    expect(printQuery(parsed(text))).toBe(printed);
    expect(withoutSpans(parsed(printed))).toEqual(withoutSpans(parsed(text)));
  });

  test.each([
    ['"open', 0, /never closed/],
    ['(a', 0, /never closed/],
    ['a)', 1, /closes nothing/],
    ['a OR', 4, /missing/],
    ['OR a', 0, /both sides/],
    ['status:', 7, /value is missing/],
    ['status:[1 2]', 10, /\[low TO high\]/],
    ['>500', 0, /needs a field/],
    ['x:~"(a"', 3, /RE2/],
    ['x:~"(?=a)"', 3, /RE2/],
    ['a | frobnicate', 4, /no pipe/],
    ['a | limit 0', 10, /whole number/],
    ['a | stats median(x)', 10, /not an aggregate/],
    ['a | stats sum()', 10, /needs a field/],
    ['a | stats count() by (x) | sort y', 0, /no column/],
    ['a | stats count(), count()', 26, /Two columns/],
    [`${'NOT '.repeat(200)}a`, 404, /nests deeper/],
    ['a '.repeat(9000), 16_384, /longer/],
  ])('refuses %s', (text, from, message) => {
    const { problem } = parseQuery(text);
    expect(problem?.message).toMatch(message);
    expect(problem?.from).toBe(from);
  });

  test('prints and parses back any query', () => {
    const vocabulary = {
      fields: ['status', 'http.response.status_code', 'a b', 'x'],
      texts: ['GET', 'OR', 'a:b', '-x', '~', 'a\\b', '"', '*'],
      numbers: ['1', '-2.5'],
    };
    fc.assert(
      fc.property(queryArbitrary(vocabulary), (query) => {
        const again = parsed(printQuery(query));
        expect(printQuery(again)).toBe(printQuery(query));
        expect(withoutSpans(parsed(printQuery(again)))).toEqual(withoutSpans(again));
      }),
      { numRuns: 1000 },
    );
  });

  test('never throws', () => {
    const signs = fc.constantFrom(
      'a',
      ':',
      '"',
      '(',
      ')',
      '[',
      ']',
      '|',
      ' ',
      '*',
      '-',
      '~',
      '>',
      '=',
      '\\',
      'OR',
      'NOT',
      'TO',
      'stats',
      'by',
      ',',
      '5',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(signs, { maxLength: 30 }).map((parts) => parts.join('')),
        ),
        (text) => {
          const { query, problem } = parseQuery(text);
          expect(Boolean(query) !== Boolean(problem)).toBe(true);
        },
      ),
      { numRuns: process.env['OBSIAC_SOAK'] ? 100_000 : 3000 },
    );
  });
});

describe('match', () => {
  test.each([
    ['checkout', true],
    ['CHECKOUT-api', true],
    ['check', false],
    ['check*', true],
    ['*out', true],
    ['user', false],
    ['user_42', true],
    ['"connection refused"', true],
    ['"connection refuse"', false],
    ['/api/v1', true],
    ['503', true],
    ['50', false],
    ['body:refused', true],
    ['status:503', true],
    ['status:503.0', true],
    ['status:50*', true],
    ['status:>=500', true],
    ['status:>503', false],
    ['status:[500 TO 599]', true],
    ['status:[* TO 502]', false],
    ['method:get', true],
    ['method:ge', false],
    ['path:/api/*', true],
    ['path:~"^/api/v[0-9]+"', true],
    ['path:~"^/API"', false],
    ['bytes:1234', true],
    ['ratio:<0.6', true],
    ['ratio:>abc', false],
    ['method:>5', false],
    ['method:>=g', true],
    ['cached:false', true],
    ['tags:edge', true],
    ['tags:7', true],
    ['tags:us', false],
    ['nothing:*', false],
    ['empty:*', false],
    ['absent:*', false],
    ['at:1795132800000000001', true],
    ['at:+01795132800000000001', true],
    ['at:1795132800000000002', false],
    ['at:1795132800000000001.0', true],
    ['at:1795132800000000002.0', true],
    ['at:>1795132800000000000', true],
    ['at:<1795132800000000001', false],
    ['NOT absent:x', true],
    ['status:(404 OR 503)', true],
    ['*', true],
    ['', true],
  ])('%s is %s', (text, expected) => {
    expect(matches(text)).toBe(expected);
  });
});

test('pipes', () => {
  const items: Record<string, FieldValue>[] = [
    { host: 'a', ms: 10 },
    { host: 'b', ms: 30 },
    { host: 'a', ms: 20 },
    { host: 'a' },
    { ms: 5 },
  ];
  const run = (text: string) => runQuery(parsed(text), items, (item) => (field) => item[field]);
  expect(run('* | stats count() as n, sum(ms), p50(ms) as mid, uniq(ms) as u by (host) | sort n desc').rows).toEqual([
    { host: 'a', n: 3, 'sum(ms)': 30, mid: 15, u: 2 },
    { host: '', n: 1, 'sum(ms)': 5, mid: 5, u: 1 },
    { host: 'b', n: 1, 'sum(ms)': 30, mid: 30, u: 1 },
  ]);
  expect(run('host:zzz | stats count() as n, max(ms) as most').rows).toEqual([{ n: 0, most: null }]);
  expect(run('* | sort ms desc | limit 2').records).toEqual([items[1], items[2]]);
  expect(run('* | fields host | limit 1').rows).toEqual([{ host: 'a' }]);
});

test('a filter is plain data', () => {
  const filter: Filter = parsed('a:1 OR b:2').filter;
  expect(JSON.parse(JSON.stringify(filter))).toEqual(filter);
});
