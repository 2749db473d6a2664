/** What a request brings, whatever protocol it came by: series with samples, and what it tells of metrics. */

/** One series of a request. The lists are parallel. */
export interface IncomingSeries {
  /** Pairs sorted by name, each name once, no value empty, with `__name__`. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** Milliseconds since 1970. */
  readonly times: readonly number[];
  readonly values: readonly number[];
  /** True where the sample is a staleness marker; undefined when none is. */
  readonly stale: readonly boolean[] | undefined;
}

export interface IncomingMetadata {
  readonly metric: string;
  /** As Prometheus names the types, in lower case. */
  readonly type: string;
  readonly help: string;
  readonly unit: string;
}

export interface IncomingMetrics {
  readonly series: readonly IncomingSeries[];
  readonly metadata: readonly IncomingMetadata[];
  /** What of the request cannot be kept, in sentences, each with how many samples it is about. */
  readonly refused: readonly Refused[];
}

export interface Refused {
  readonly samples: number;
  readonly reason: string;
}

/** What is wrong with a request as a whole: it is answered 400 and never sent again. */
export class UndecodableMetrics extends Error {
  readonly code = 'metrics_undecodable';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'UndecodableMetrics';
  }
}

export const MAX_LABELS = 128;
export const MAX_LABEL_NAME_BYTES = 1024;
export const MAX_LABEL_VALUE_BYTES = 16 * 1024;

/** The bits of Prometheus' staleness marker: a NaN with this payload. */
export const STALE_LOW = 0x00000002;
export const STALE_HIGH = 0x7ff00000;

/**
 * Label pairs as a series has them, or the reason why they are none: Prometheus' rules (a metric name, no name twice, names and values in
 * UTF-8) and limits of size.
 */
export function readLabels(
  pairs: Iterable<readonly [string, string]>,
): { readonly labels: IncomingSeries['labels'] } | { readonly reason: string } {
  const labels: (readonly [string, string])[] = [];
  for (const pair of pairs) {
    const [name, value] = pair;
    if (name === '') return { reason: 'a label has no name' };
    if (name.length > MAX_LABEL_NAME_BYTES)
      return { reason: `the name of a label is longer than ${MAX_LABEL_NAME_BYTES}` };
    if (value.length > MAX_LABEL_VALUE_BYTES) {
      return { reason: `the value of the label ${name} is longer than ${MAX_LABEL_VALUE_BYTES}` };
    }
    labels.push(pair);
  }
  labels.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  for (let index = 1; index < labels.length; index += 1) {
    if (labels[index]![0] === labels[index - 1]![0]) return { reason: `the label ${labels[index]![0]} comes twice` };
  }
  const filled = labels.filter(([, value]) => value !== '');
  if (filled.length > MAX_LABELS) return { reason: `a series has more than ${MAX_LABELS} labels` };
  if (!filled.some(([name]) => name === '__name__')) return { reason: 'a series has no metric name' };
  return { labels: filled };
}
