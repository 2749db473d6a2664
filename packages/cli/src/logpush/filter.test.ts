import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkFilter } from './filter.ts';

const condition = (key: string, operator: string, value: unknown) => ({ key, operator, value });
const check = (where: unknown, dataset = 'http_requests') => checkFilter(JSON.stringify({ where }), dataset);

describe('takes', () => {
  test.each([
    condition('EdgeResponseStatus', 'geq', 500),
    condition('EdgeResponseStatus', 'in', [500, 502]),
    condition('ClientRequestPath', '!startsWith', '/static'),
    condition('ClientRequestPath', '!in', ['/a', '/b']),
    condition('SecurityActions', 'contains', 'block'),
    condition('WorkerSubrequest', 'eq', true),
    {
      and: [
        condition('RayID', 'eq', 'x'),
        { or: [condition('BotScore', 'lt', 30), condition('ClientCountry', '!eq', 'de')] },
      ],
    },
  ])('%j', (where) => {
    expect(check(where)).toMatchObject({ problems: [], doubts: [] });
  });

  test('any field of a dataset that is not known', () => {
    expect(check(condition('Whatever', 'eq', 1), 'new_dataset')).toMatchObject({ problems: [], doubts: [] });
  });

  test('a field that is not known, with a doubt', () => {
    const { problems, doubts } = check(condition('EdgeResponseStatu', 'eq', 500));
    expect(problems).toEqual([]);
    expect(doubts.join()).toContain('EdgeResponseStatus');
  });
});

describe('refuses', () => {
  test.each([
    [condition('EdgeResponseStatus', 'like', 500), /"operator" is one of/],
    [condition('EdgeResponseStatus', 'geq', '500'), /compared with a whole number/],
    [condition('EdgeResponseStatus', 'startsWith', '5'), /takes eq, !eq, lt/],
    [condition('EdgeResponseStatus', 'in', 500), /takes a list/],
    [condition('EdgeResponseStatus', 'in', []), /takes a list/],
    [condition('EdgeResponseStatus', 'in', [500, '502']), /compared with a whole number/],
    [condition('ClientRequestPath', 'eq', null), /one plain value/],
    [condition('Cookies', 'contains', 'x'), /cannot filter on Cookies/],
    [condition('', 'eq', 1), /"key" is missing/],
    [{ key: 'RayID', operator: 'eq' }, /"value" is missing/],
    [{ ...condition('RayID', 'eq', 'x'), not: true }, /has no "not"/],
    [{ and: [] }, /at least one condition/],
    [{ and: [condition('RayID', 'eq', 'x')], or: [] }, /stands alone/],
    [[condition('RayID', 'eq', 'x')], /here stands/],
    [{ or: Array.from({ length: 31 }, () => condition('BotScore', 'eq', 1)) }, /32 operators/],
    [condition('ClientRequestPath', 'eq', 'x'.repeat(1000)), /1000 at most/],
  ])('%j', (where, problem) => {
    expect(check(where).problems.join('\n')).toMatch(problem);
  });

  test('fields of firewall events that Cloudflare does not filter on', () => {
    expect(check(condition('Action', 'eq', 'block'), 'firewall_events').problems.join()).toContain(
      'cannot filter on Action',
    );
    expect(check(condition('ClientIP', 'eq', '192.0.2.1'), 'firewall_events').problems).toEqual([]);
  });

  test.each(['', '{', '[]', '{"were":{}}', '{"where":{},"and":[]}', 'null'])('%j', (text) => {
    expect(checkFilter(text, 'http_requests').problems.length).toBeGreaterThan(0);
  });
});

test('any JSON gets an answer', () => {
  const word = fc.constantFrom(
    'where',
    'and',
    'or',
    'key',
    'operator',
    'value',
    'eq',
    'in',
    'RayID',
    '__proto__',
    'constructor',
  );
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'medium' },
      word,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(word, tie('node'), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(node, (where) => {
      const { problems, doubts } = checkFilter(JSON.stringify({ where }), 'http_requests');
      expect([...problems, ...doubts].every((sentence) => typeof sentence === 'string')).toBe(true);
    }),
  );
});
