/** Results in the shape of the Prometheus HTTP API (`/api/v1/query` and `/api/v1/query_range`, member `data`). */
import { labelsRecord } from '../series/labels.ts';
import { formatValue } from '../series/numbers.ts';
import type { InstantResult, Points, RangeResult } from './query.ts';

/** Seconds since 1970 with up to three decimals, and the value as text. */
export type ApiPoint = [time: number, value: string];

export interface ApiVector {
  readonly resultType: 'vector';
  readonly result: { readonly metric: Record<string, string>; readonly value: ApiPoint }[];
}

export interface ApiMatrix {
  readonly resultType: 'matrix';
  readonly result: { readonly metric: Record<string, string>; readonly values: ApiPoint[] }[];
}

export type ApiData = ApiVector | ApiMatrix | { readonly resultType: 'scalar' | 'string'; readonly result: ApiPoint };

/** The `data` of an answer to an instant query. */
export function instantToApi({ time, data }: InstantResult): ApiData {
  const seconds = time / 1000;
  switch (data.type) {
    case 'scalar':
      return { resultType: 'scalar', result: [seconds, formatValue(data.value)] };
    case 'string':
      return { resultType: 'string', result: [seconds, data.value] };
    case 'vector': {
      const result = data.samples.map(({ labels, value }) => ({
        metric: labelsRecord(labels),
        value: [seconds, formatValue(value)] satisfies ApiPoint,
      }));
      return { resultType: 'vector', result };
    }
    case 'matrix':
      return matrix(data.series);
  }
}

/** The `data` of an answer to a range query. */
export function rangeToApi({ series }: RangeResult): ApiMatrix {
  return matrix(series);
}

function matrix(series: readonly Points[]): ApiMatrix {
  const result = series.map(({ labels, times, values }) => ({
    metric: labelsRecord(labels),
    values: Array.from(times, (time, i): ApiPoint => [time / 1000, formatValue(values[i]!)]),
  }));
  return { resultType: 'matrix', result };
}
