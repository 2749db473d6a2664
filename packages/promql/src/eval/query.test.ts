import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { labelsOf } from '../series/labels.ts';
import { readNotation } from '../series/notation.ts';
import { MemoryStorage } from '../storage/memory.ts';
import type { LabelMatcher, SeriesData, Storage } from '../storage/storage.ts';
import type { Expr } from '../syntax/ast.ts';
import { parse } from '../syntax/parser.ts';
import { instantToApi, rangeToApi } from './api-shape.ts';
import type { EvalOptions } from './context.ts';
import { QueryError } from './errors.ts';
import { queryInstant, queryRange } from './query.ts';

function expr(query: string): Expr {
  const parsed = parse(query);
  if (!parsed.ok) throw new Error(parsed.problems[0]!.message);
  return parsed.expr;
}

function stored(notation: string, interval = 15_000): MemoryStorage {
  const { series, problems } = readNotation(notation, { start: 0, interval });
  expect(problems).toEqual([]);
  return new MemoryStorage().add(series);
}

const UP = stored('up{i="a"} 1+1x239\nup{i="b"} 2+2x239');

async function instant(query: string, time: number, options: Partial<EvalOptions> = {}) {
  return instantToApi(await queryInstant(expr(query), { storage: UP, ...options, time }));
}

async function range(query: string, start: number, end: number, step: number, options: Partial<EvalOptions> = {}) {
  return rangeToApi(await queryRange(expr(query), { storage: UP, ...options, start, end, step }));
}

/** The code and the part of the query that a refused query is about. */
async function refusal(query: string, ask: Promise<unknown>): Promise<[string, string | undefined]> {
  const error = await ask.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof QueryError)) throw new Error(`no QueryError but ${String(error)}`);
  return [error.code, error.span && query.slice(error.span.from, error.span.to)];
}

describe('the shape of results', () => {
  test('instant: vector, scalar, string and matrix', async () => {
    expect(await instant('up{i="a"} + 0.5', 60_123)).toEqual({
      resultType: 'vector',
      result: [{ metric: { i: 'a' }, value: [60.123, '5.5'] }],
    });
    expect(await instant('1e-7', 0)).toEqual({ resultType: 'scalar', result: [0, '1e-07'] });
    expect(await instant('"x"', 1_500)).toEqual({ resultType: 'string', result: [1.5, 'x'] });
    expect(await instant('up{i="b"}[30s]', 45_000)).toEqual({
      resultType: 'matrix',
      result: [
        {
          metric: { __name__: 'up', i: 'b' },
          values: [
            [30, '6'],
            [45, '8'],
          ],
        },
      ],
    });
  });

  test('range: only the steps with a value, series in order of their labels', async () => {
    expect(await range('up > 3', 0, 60_000, 15_000)).toEqual({
      resultType: 'matrix',
      result: [
        {
          metric: { __name__: 'up', i: 'a' },
          values: [
            [45, '4'],
            [60, '5'],
          ],
        },
        {
          metric: { __name__: 'up', i: 'b' },
          values: [
            [15, '4'],
            [30, '6'],
            [45, '8'],
            [60, '10'],
          ],
        },
      ],
    });
    expect(await range('time()', 1, 2_001, 1_000)).toEqual({
      resultType: 'matrix',
      result: [
        {
          metric: {},
          values: [
            [0.001, '0.001'],
            [1.001, '1.001'],
            [2.001, '2.001'],
          ],
        },
      ],
    });
  });
});

describe('options', () => {
  test('lookback', async () => {
    const storage = stored('x 7', 1_000);
    const found = async (time: number, options: Partial<EvalOptions>) =>
      (await instant('x', time, { storage, ...options })).result.length;
    expect(await found(299_999, {})).toBe(1);
    expect(await found(300_000, {})).toBe(0);
    expect(await found(300_000, { compat: 2 })).toBe(1);
    expect(await found(60_000, { lookback: 60_000 })).toBe(0);
    expect(await found(59_999, { lookback: 60_000 })).toBe(1);
  });

  test('the step of subqueries that name none', async () => {
    const count = async (options: Partial<EvalOptions>) =>
      (await instant('count_over_time(vector(1)[5m:])', 600_000, options)).result;
    expect(await count({})).toEqual([{ metric: {}, value: [600, '5'] }]);
    expect(await count({ subqueryStep: 15_000 })).toEqual([{ metric: {}, value: [600, '20'] }]);
  });

  test('annotations tell what is odd, once', async () => {
    const result = await queryRange(expr('quantile(2, up) + on () group_left () quantile_over_time(0.5, up[5m]) > 0'), {
      storage: stored('up 1x20'),
      start: 0,
      end: 300_000,
      step: 15_000,
    });
    expect(result.annotations).toMatchObject([
      { level: 'warning', message: 'A quantile should be between 0 and 1, not 2.' },
    ]);
    const buckets = stored('b{le="1"} 5\nb{le="2"} 3\nb{le="+Inf"} 9\nb{le="x"} 9');
    const histogram = await queryInstant(expr('histogram_quantile(0.5, b)'), { storage: buckets, time: 0 });
    expect(histogram.annotations.map(({ level }) => level).sort()).toEqual(['info', 'warning']);
  });
});

describe('a live storage', () => {
  test('may answer later, is asked once for each selector, for the time that can be seen', async () => {
    const asked: [readonly LabelMatcher[], number, number][] = [];
    const storage: Storage = {
      async select(matchers, from, to) {
        await sleep(1);
        asked.push([matchers.map(({ label, op, value }) => ({ label, op, value })), from, to]);
        return UP.select(matchers, from, to);
      },
    };
    const query = 'rate(up{i="a"}[5m] offset 1m) + on () up{i=~"b"} + on () max_over_time(sum(up)[10m:1m] @ 1200)';
    const { result } = await range(query, 900_000, 1_500_000, 60_000, { storage });
    expect(result).toHaveLength(1);
    const name = { label: '__name__', op: '=', value: 'up' };
    expect(asked).toEqual([
      [[name, { label: 'i', op: '=', value: 'a' }], 540_000, 1_440_000],
      [[name, { label: 'i', op: '=~', value: 'b' }], 600_000, 1_500_000],
      [[name], 360_000, 1_200_000],
    ]);
  });

  test('what it throws reaches the caller', async () => {
    class StoreError extends Error {}
    const storage: Storage = {
      select() {
        throw new StoreError('down');
      },
    };
    await expect(instant('up', 0, { storage })).rejects.toBeInstanceOf(StoreError);
  });

  test('that never answers does not hold the query', async () => {
    let told: AbortSignal | undefined;
    const storage: Storage = {
      select(_matchers, _from, _to, options) {
        told = options?.signal;
        return new Promise(() => {});
      },
    };
    const late = await refusal('up', instant('up', 0, { storage, limits: { timeout: 20 } }));
    expect(late[0]).toBe('timeout');
    expect(told?.aborted).toBe(true);
    const controller = new AbortController();
    const cancelled = refusal('up', instant('up', 0, { storage, signal: controller.signal }));
    controller.abort();
    expect((await cancelled)[0]).toBe('aborted');
    expect(told?.aborted).toBe(true);
  });

  test('may give more samples than asked for', async () => {
    const storage: Storage = {
      select: (matchers) => UP.select(matchers, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY),
    };
    for (const query of [
      'up',
      'rate(up[1m])',
      'up[1m]',
      'sum_over_time(up[1m] offset 5m)',
      'max_over_time(up[5m:1m])',
    ]) {
      expect(await instant(query, 1_000_000, { storage })).toEqual(await instant(query, 1_000_000));
    }
  });
});

describe('limits', () => {
  const limited = (query: string, limits: EvalOptions['limits']) =>
    refusal(query, range(query, 0, 600_000, 15_000, { limits }));

  test.each([
    ['up', { steps: 40 }, 'too_many_steps', undefined],
    ['sum(up) + up', { series: 1 }, 'too_many_series', 'up'],
    ['up', { samples: 20 }, 'too_many_samples', 'up'],
    ['sum_over_time(vector(1)[1w:1s])', { samples: 500_000 }, 'too_many_samples', 'vector(1)[1w:1s]'],
    ['count_values("v", up)', { samples: 400 }, 'too_many_samples', 'count_values("v", up)'],
    ['-(-(-(-(1))))', { nesting: 5 }, 'too_deep', undefined],
    ['up', { timeout: -1 }, 'timeout', undefined],
  ] as const)('%s with %j', async (query, limits, code, about) => {
    const [found, span] = await limited(query, limits);
    expect(found).toBe(code);
    if (about !== undefined) expect(span).toBe(about);
  });

  test('none of them stands in the way of what is within', async () => {
    const limits = { steps: 41, series: 2, samples: 200, nesting: 3, timeout: 60_000 };
    expect((await range('sum(up)', 0, 600_000, 15_000, { limits })).result).toHaveLength(1);
  });

  const SLOW = `${Array.from({ length: 200 }, () => 'sum(stddev_over_time(up[1h]))').join(' + ')}`;

  test('the time limit is looked at while the evaluation runs', async () => {
    let now = 0;
    const clock = () => (now += 5);
    const [code] = await refusal(SLOW, range(SLOW, 0, 3_600_000, 1_000, { limits: { timeout: 100 }, clock }));
    expect(code).toBe('timeout');
    // The evaluation did not go on to its end, which looks at the clock far more often.
    expect(now).toBeLessThan(500);
  });

  test('and also inside one long series', async () => {
    let now = 0;
    const clock = () => (now += 5);
    const query = 'stddev_over_time(up{i="a"}[1h])';
    const [code] = await refusal(query, range(query, 0, 3_600_000, 50, { limits: { timeout: 100 }, clock }));
    expect(code).toBe('timeout');
    expect(now).toBeLessThan(200);
  });

  test('other tasks run meanwhile, so that a signal can stop it', async () => {
    const controller = new AbortController();
    const clock = performance.now.bind(performance);
    let turns = 0;
    const timer = setInterval(() => {
      turns++;
      if (turns === 3) controller.abort();
    }, 1);
    try {
      const [code] = await refusal(SLOW, range(SLOW, 0, 3_600_000, 500, { signal: controller.signal, clock }));
      expect(code).toBe('aborted');
      expect(turns).toBe(3);
    } finally {
      clearInterval(timer);
    }
  });

  test('a signal that is aborted already', async () => {
    const [code] = await refusal('up', instant('up', 0, { signal: AbortSignal.abort() }));
    expect(code).toBe('aborted');
  });
});

describe('what is refused', () => {
  test.each([
    ['rate({__name__=~"up|down"}[5m])', 'duplicate_series'],
    ['up + on () up', 'many_to_many'],
    ['up == on (i) {__name__=~"up|down"}', 'many_to_many'],
    ['{__name__=~"up|down"} == on (i) up', 'multiple_matches'],
    ['{__name__=~"up|down"} + on (i) group_left () up', 'multiple_matches'],
    ['topk(NaN, up)', 'bad_parameter'],
    ['count_values("", up)', 'bad_label'],
    ['label_replace(up, "x", "y", "i", "(")', 'bad_regex'],
    ['label_replace(up, "", "y", "i", "")', 'bad_label'],
    ['histogram_count(up)', 'unsupported'],
  ])('%s', async (query, code) => {
    const storage = stored('up{i="a"} 1x40\nup{i="b"} 2x40\ndown{i="a"} 1x40');
    expect((await refusal(query, instant(query, 300_000, { storage })))[0]).toBe(code);
    expect((await refusal(query, range(query, 0, 600_000, 60_000, { storage })))[0]).toBe(code);
  });

  test('experimental functions and MetricsQL, also in a tree built by hand', async () => {
    const span = { from: 0, to: 1 };
    const one: Expr = { kind: 'numberLiteral', value: 1, duration: false, span };
    const up = expr('up');
    const trees: Expr[] = [
      { kind: 'call', func: 'info', args: [up], span },
      { kind: 'call', func: 'mad_over_time', args: [expr('up[5m]')], span },
      { kind: 'aggregate', op: 'limitk', param: one, expr: up, grouping: [], without: false, span },
    ];
    const metricsql = parse('up default 0', { dialect: 'metricsql' });
    if (metricsql.ok) trees.push(metricsql.expr);
    expect(trees).toHaveLength(4);
    for (const tree of trees)
      await expect(queryInstant(tree, { storage: UP, time: 0 })).rejects.toMatchObject({ code: 'unsupported' });
  });

  test('ranges that make no sense', async () => {
    for (const [query, start, end, step] of [
      ['up', 10, 0, 1],
      ['up', 0, 10, 0],
      ['up', 0, 10, -5],
      ['up', 0.5, 10, 1],
      ['up', 0, Number.NaN, 1],
      ['"text"', 0, 10, 1],
      ['up[5m]', 0, 10, 1],
    ] as const) {
      expect((await refusal(query, range(query, start, end, step)))[0]).toBe('bad_range');
    }
    expect((await refusal('up', instant('up', Number.POSITIVE_INFINITY)))[0]).toBe('bad_range');
  });
});

test('long chains of operators are no nesting', async () => {
  const chain = Array.from({ length: 5_000 }, () => 'vector(1)').join(' + ');
  expect((await instant(chain, 0)).result).toEqual([{ metric: {}, value: [0, '5000'] }]);
  const pinned = Array.from({ length: 3_000 }, () => 'up{i="a"} @ 60').join(' + ');
  expect((await range(pinned, 0, 60_000, 60_000)).result).toMatchObject([
    {
      values: [
        [0, '15000'],
        [60, '15000'],
      ],
    },
  ]);
});

test('a histogram starts at zero for histogram_fraction too, as for histogram_quantile', async () => {
  const storage = stored('b{le="1"} 10\nb{le="2"} 30\nb{le="+Inf"} 40\nn{le="-1"} 10\nn{le="+Inf"} 20');
  const fraction = async (query: string) => (await instant(query, 0, { storage })).result;
  expect(await fraction('histogram_fraction(0, 0.5, b)')).toMatchObject([{ value: [0, '0.125'] }]);
  expect(await fraction('histogram_fraction(-3, 1.5, b)')).toMatchObject([{ value: [0, '0.5'] }]);
  expect(await fraction('histogram_fraction(-Inf, -1, n)')).toMatchObject([{ value: [0, '0.5'] }]);
});

test('a selector whose data has no such labels in common still keeps strange names apart', async () => {
  const data: SeriesData = {
    labels: labelsOf([
      ['__name__', 'x'],
      ['__proto__', 'p'],
    ]),
    times: Float64Array.of(0),
    values: Float64Array.of(1),
    stale: undefined,
  };
  const storage = new MemoryStorage().add([data]);
  const { result } = await instant('sum by (__proto__) (x)', 0, { storage });
  expect(JSON.stringify(result)).toBe('[{"metric":{"__proto__":"p"},"value":[0,"1"]}]');
});
