import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ErrorInside, readAnswer } from './answer.ts';
import { SourceError } from './source.ts';
import { matrix } from './testdata/scripted-server.ts';

const read = (answer: unknown) =>
  readAnswer(Buffer.from(JSON.stringify(answer)), { maxSeries: Number.POSITIVE_INFINITY });
const series = (change: object) => matrix([{ metric: { a: 'b' }, values: [[1, '2']], ...change }]);

/** As Go writes a number. */
const text = (value: number) =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';

describe('an answer of query_range', () => {
  it('gives back every number and time', () => {
    const points = fc.uniqueArray(fc.tuple(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.double()), {
      selector: ([time]) => time + 0,
    });
    const labels = fc.dictionary(fc.string(), fc.string());
    fc.assert(
      fc.property(fc.array(fc.tuple(labels, points), { maxLength: 5 }), (all) => {
        const sorted = all.map(([metric, some]) => ({ metric, some: some.toSorted(([a], [b]) => a - b) }));
        const result = sorted.map(({ metric, some }) => ({ metric, values: some.map(([t, v]) => [t, text(v)]) }));
        expect(read(matrix(result)).series).toEqual(
          sorted.map(({ metric, some }) => ({
            labels: JSON.parse(JSON.stringify(metric)),
            // JSON knows no negative zero.
            times: Float64Array.from(some, ([time]) => time + 0),
            values: Float64Array.from(some, ([, value]) => (Object.is(value, -0) ? 0 : value)),
          })),
        );
      }),
    );
  });

  it.each([
    ['1', 1],
    ['-0.5', -0.5],
    ['1e+06', 1e6],
    ['1.7976931348623157e+308', Number.MAX_VALUE],
    ['5e-324', 5e-324],
    ['NaN', Number.NaN],
    ['+Inf', Number.POSITIVE_INFINITY],
    ['Inf', Number.POSITIVE_INFINITY],
    ['-Inf', Number.NEGATIVE_INFINITY],
  ])('reads the value %s', (value, number) => {
    expect(read(series({ values: [[1, value]] })).series[0]!.values).toEqual(Float64Array.of(number));
  });

  it.each(['', ' 1', '1 ', '0x10', '1_0', 'Infinity', 'nan', 'null', '1e', '.', '--1', 1, null, true, ['1']])(
    'refuses the value %j',
    (value) => {
      expect(() => read(series({ values: [[1, value]] }))).toThrow('is not a number');
    },
  );

  it.each([
    [null],
    [[]],
    ['text'],
    [{}],
    [{ status: 'success' }],
    [{ status: 'success', data: { resultType: 'matrix' } }],
    [{ status: 'success', data: { resultType: 'vector', result: [] } }],
    [{ status: 'success', data: { resultType: 'matrix', result: {} } }],
    [{ status: 'pending', data: { resultType: 'matrix', result: [] } }],
    [matrix([null])],
    [matrix([{ values: [] }])],
    [series({ metric: { a: 1 } })],
    [series({ metric: ['a'] })],
    [series({ values: undefined })],
    [series({ values: [[1]] })],
    [series({ values: [[1, '2', '3']] })],
    [series({ values: [['1', '2']] })],
    [
      series({
        values: [
          [2, '2'],
          [1, '2'],
        ],
      }),
    ],
    [
      series({
        values: [
          [1, '2'],
          [1, '2'],
        ],
      }),
    ],
    [matrix([], { warnings: 'one' })],
    [matrix([], { infos: [1] })],
    [matrix([], { isPartial: 'yes' })],
  ])('refuses %j', (answer) => {
    expect(() => read(answer)).toThrow(expect.objectContaining({ code: 'bad_answer' }));
  });

  it('refuses native histograms with advice', () => {
    const answer = series({ values: undefined, histograms: [[1, { count: '1', sum: '1' }]] });
    expect(() => read(answer)).toThrow(expect.objectContaining({ code: 'bad_query' }));
    expect(() => read(answer)).toThrow('histogram_quantile');
  });

  it('hands an error of the API on', () => {
    expect(() => read({ status: 'error', errorType: 'bad_data', error: 'no' })).toThrow(ErrorInside);
    expect(() => read({ status: 'error' })).toThrow('no reason given');
  });

  it('throws nothing else, whatever comes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (body) => {
        try {
          readAnswer(Buffer.from(body), { maxSeries: 10 });
        } catch (error) {
          expect(error instanceof SourceError || error instanceof ErrorInside).toBe(true);
        }
      }),
    );
  });
});
