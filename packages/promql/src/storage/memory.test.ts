import { describe, expect, test } from 'vitest';
import { labelsOf, labelsRecord } from '../series/labels.ts';
import type { MatchOp } from '../syntax/ast.ts';
import { MemoryStorage } from './memory.ts';
import { between, type LabelMatcher, type SeriesData } from './storage.ts';

const matcher = (label: string, op: MatchOp, value: string): LabelMatcher => ({ label, op, value });
const ALWAYS = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;

function filled(): MemoryStorage {
  const storage = new MemoryStorage();
  for (let i = 0; i < 40; i++) {
    storage.append({ __name__: 'up', job: 'api' }, i * 10, i);
    storage.append({ __name__: 'up', job: 'web', zone: 'x' }, i * 10 + 5, -i, i === 30);
    storage.append({ job: 'nameless' }, i, i);
  }
  return storage;
}

describe('selection', () => {
  const jobs = (...matchers: LabelMatcher[]) =>
    filled()
      .select(matchers, ...ALWAYS)
      .map(({ labels }) => labelsRecord(labels)['job']);

  test.each([
    [[matcher('__name__', '=', 'up')], ['api', 'web']],
    [[matcher('__name__', '=', '')], ['nameless']],
    [[matcher('__name__', '!=', 'up')], ['nameless']],
    [[matcher('job', '=~', 'a.*|w.b')], ['api', 'web']],
    [[matcher('job', '=~', 'a')], []],
    [[matcher('job', '!~', 'a.*')], ['web', 'nameless']],
    [[matcher('zone', '=', '')], ['api', 'nameless']],
    [[matcher('zone', '=~', '|y')], ['api', 'nameless']],
    [[matcher('zone', '!=', '')], ['web']],
    [[matcher('__name__', '=', 'up'), matcher('__name__', '=', 'down')], []],
    [[], ['api', 'web', 'nameless']],
  ])('%j', (matchers, expected) => {
    expect(jobs(...matchers)).toEqual(expected);
  });

  test('cuts to the time asked for, both ends included', () => {
    const [series] = filled().select([matcher('job', '=', 'api')], 20, 40);
    expect([...series!.times]).toEqual([20, 30, 40]);
    expect([...series!.values]).toEqual([2, 3, 4]);
    expect(filled().select([matcher('job', '=', 'api')], 21, 29)).toEqual([]);
    const [web] = filled().select([matcher('job', '=', 'web')], 300, 310);
    expect([...web!.stale!]).toEqual([1]);
    expect([...web!.times]).toEqual([305]);
  });
});

test('samples must come in order of time', () => {
  const storage = filled();
  expect(() => storage.append({ __name__: 'up', job: 'api' }, 390, 1)).toThrow(
    expect.objectContaining({ code: 'out_of_order' }),
  );
  expect(() => storage.append({ __name__: 'up', job: 'api' }, Number.NaN, 1)).toThrow(/came after/);
  storage.append(labelsOf({ job: 'api', __name__: 'up', none: '' }), 391, 1);
  expect(storage.select([matcher('job', '=', 'api')], 391, 391)).toHaveLength(1);
  const whole: SeriesData = {
    labels: labelsOf({ a: 'b' }),
    times: Float64Array.of(1, 1),
    values: Float64Array.of(1, 2),
    stale: undefined,
  };
  expect(() => new MemoryStorage().add([whole])).toThrow(/rise/);
  const good = { ...whole, times: Float64Array.of(1, 2) };
  expect(() => new MemoryStorage().add([good, good])).toThrow(/already/);
});

test('what was selected does not change when samples are appended', () => {
  const storage = new MemoryStorage();
  for (let i = 0; i < 20; i++) storage.append({ a: 'b' }, i, i);
  const [before] = storage.select([], ...ALWAYS);
  for (let i = 20; i < 200; i++) storage.append({ a: 'b' }, i, i, i === 100);
  expect(before!.times).toHaveLength(20);
  expect(storage.all()[0]!.times).toHaveLength(200);
  expect(storage.all()[0]!.stale![100]).toBe(1);
});

test('between shares the columns', () => {
  const [series] = filled().select([matcher('job', '=', 'api')], ...ALWAYS);
  expect(between(series!, 0, 1e9)).toBe(series);
  expect(between(series!, 10, 20).times.buffer).toBe(series!.times.buffer);
});
