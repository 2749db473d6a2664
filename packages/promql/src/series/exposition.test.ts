import { describe, expect, test } from 'vitest';
import { readExposition } from './exposition.ts';
import { labelsRecord } from './labels.ts';

const read = (text: string, time = 5_000) => {
  const { series, problems } = readExposition(text, { time });
  return {
    series: series.map(({ labels, times, values }) => [{ ...labelsRecord(labels) }, [...times], [...values]]),
    problems: problems.map(({ from, to, message }) => `${text.slice(from, to)}: ${message}`),
  };
};

test('reads the text format of Prometheus', () => {
  const text = `# HELP http_requests_total Requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="post",code="400",}    3 -1

# a comment
msdos_file_access_time_seconds{path="C:\\\\DIR\\\\FILE.TXT",error="Cannot find file:\\n\\"FILE.TXT\\""} 1.458255915e9
metric_without_timestamp_and_labels 12.47
weird{problem="division by zero"} +Inf -3982045
latency_bucket{le="+Inf"} NaN
hex 0x1p-2
{"quoted metric", "a label"="\\q"} 1e-3
`;
  expect(read(text)).toEqual({
    series: [
      [{ __name__: 'http_requests_total', method: 'post', code: '200' }, [1395066363000], [1027]],
      [{ __name__: 'http_requests_total', method: 'post', code: '400' }, [-1], [3]],
      [
        {
          __name__: 'msdos_file_access_time_seconds',
          path: 'C:\\DIR\\FILE.TXT',
          error: 'Cannot find file:\n"FILE.TXT"',
        },
        [5_000],
        [1.458255915e9],
      ],
      [{ __name__: 'metric_without_timestamp_and_labels' }, [5_000], [12.47]],
      [{ __name__: 'weird', problem: 'division by zero' }, [-3982045], [Number.POSITIVE_INFINITY]],
      [{ __name__: 'latency_bucket', le: '+Inf' }, [5_000], [Number.NaN]],
      [{ __name__: 'hex' }, [5_000], [0.25]],
      [{ __name__: 'quoted metric', 'a label': '\\q' }, [5_000], [0.001]],
    ],
    problems: [],
  });
});

test('reads OpenMetrics: times in seconds, exemplars', () => {
  const text = `# TYPE a counter
# UNIT a seconds
a_total 1 1520879607.789
a_total 2 1520879609.5 # {trace="x y"} 0.67 1520879607.1
a_bucket{le="1"} 3 # {trace="z"} 0.5
# EOF
`;
  expect(read(text)).toEqual({
    series: [
      [{ __name__: 'a_total' }, [1520879607789, 1520879609500], [1, 2]],
      [{ __name__: 'a_bucket', le: '1' }, [5_000], [3]],
    ],
    problems: [],
  });
});

test('puts the samples of a series in order of time', () => {
  expect(read('a 3 30\nb 1 10\na 1 10\na 2 20\n').series).toEqual([
    [{ __name__: 'a' }, [10, 20, 30], [1, 2, 3]],
    [{ __name__: 'b' }, [10], [1]],
  ]);
});

describe('problems', () => {
  test.each([
    ['a', 'A value is expected'],
    ['a b', 'A value is expected'],
    ['a 1 x', 'A timestamp'],
    ['a 1 2 3', 'should end here'],
    ['a{b="c"', 'or "}"'],
    ["a{b='c'} 1", 'in quotes'],
    ['a 1 1e30', 'out of range'],
    ['a 1 5\na 2 5', 'at this time already'],
    ['a 1 # {x="y"} 1', 'A timestamp'],
    ['{} 1\n= 2', 'A metric name'],
  ])('%j', (text, message) => {
    const { problems } = read(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(message);
  });

  test('one bad line does not take the others with it', () => {
    const { series, problems } = read('a 1\n!\nb 2\n');
    expect(series).toHaveLength(2);
    expect(problems).toEqual(['!: A metric name or "{" is expected here.']);
  });
});
