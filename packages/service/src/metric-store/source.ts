/** The service's own metrics as data sources of the evaluator: queries answered without HTTP. */
import { type Expr, parse, QueryError, type QueryErrorCode, queryRange } from '@obsiac/promql';
import {
  type RangeAnswer,
  type RangeRequest,
  type RangeSeries,
  type SourceClient,
  SourceError,
  type SourceErrorCode,
} from '../data-source/source.ts';
import { StoreError, type StoreErrorCode } from '../log-store/index.ts';
import type { MetricReader } from './reader.ts';

export interface OwnSourceOptions {
  /** Undefined: this service keeps no metrics (`--no-logs`). Then every query is refused as `unreachable`. */
  readonly reader: MetricReader | undefined;
  /** Id of the organisation. */
  readonly org: string;
  /** Seconds that samples may need to arrive. */
  readonly evaluationDelay?: number | undefined;
  /** Where the query API is, for curl lines, once it answers: `http://127.0.0.1:7780`. */
  readonly origin: () => string;
  /** Milliseconds that a query may take; default: the limit of the reader. */
  readonly timeout?: number;
}

/** Samples that were sent: a minute for scrapes and senders' queues. */
export const EMBEDDED_EVALUATION_DELAY = 60;
/** Logs: a CDN sends a batch at least every 30 seconds or so, and its own pipeline takes a while. */
export const LOGS_EVALUATION_DELAY = 120;

/** The metrics that were sent to this service. */
export function createEmbeddedSource(options: OwnSourceOptions): SourceClient {
  return new OwnSource(options, 'embedded', EMBEDDED_EVALUATION_DELAY);
}

/** The metrics that are computed from the stored logs. */
export function createLogsSource(options: OwnSourceOptions): SourceClient {
  return new OwnSource(options, 'logs', LOGS_EVALUATION_DELAY);
}

const REMEMBERED_QUERIES = 5_000;

class OwnSource implements SourceClient {
  readonly evaluationDelay: number;
  readonly #options: OwnSourceOptions;
  readonly #name: 'embedded' | 'logs';
  /** Parsed queries: a rule asks the same one each minute. */
  readonly #parsed = new Map<string, Expr>();

  constructor(options: OwnSourceOptions, name: 'embedded' | 'logs', evaluationDelay: number) {
    this.#options = options;
    this.#name = name;
    this.evaluationDelay = options.evaluationDelay ?? evaluationDelay;
  }

  async queryRange({ query, start, end, step, signal }: RangeRequest): Promise<RangeAnswer> {
    const { reader, org, timeout } = this.#options;
    if (reader === undefined) {
      throw new SourceError('unreachable', 'This service keeps no metrics: it was started without its log engine.');
    }
    const expr = this.#parse(query);
    const stepMs = Math.round(step * 1000);
    try {
      const { series, annotations } = await queryRange(expr, {
        start: Math.round(start * 1000),
        end: Math.round(end * 1000),
        step: stepMs,
        storage: reader.storage({ org, expr, step: stepMs }),
        limits: { ...reader.limits, ...(timeout === undefined ? {} : { timeout }) },
        signal,
      });
      const warnings = annotations.filter(({ level }) => level === 'warning').map(({ message }) => message);
      return { series: series.map(toSeconds), warnings, bytes: 0 };
    } catch (error) {
      throw toSourceError(error);
    }
  }

  curl({ query, start, end, step }: Omit<RangeRequest, 'signal'>): string {
    const where = this.#name === 'embedded' ? '' : `/prometheus/${this.#name}`;
    const parameters = [`query=${query}`, `start=${start}`, `end=${end}`, `step=${step}`];
    const data = parameters.map((parameter) => `--data-urlencode ${shellQuoted(parameter)}`).join(' ');
    const url = shellQuoted(`${this.#options.origin()}${where}/api/v1/query_range`);
    return `curl -sS -H "Authorization: Bearer $OBSIAC_READ_TOKEN" ${data} ${url}`;
  }

  async close(): Promise<void> {
    this.#parsed.clear();
  }

  #parse(query: string): Expr {
    const known = this.#parsed.get(query);
    if (known !== undefined) return known;
    const result = parse(query);
    if (!result.ok) {
      throw new SourceError('bad_query', result.problems.map(({ message }) => message).join(' '));
    }
    if (this.#parsed.size >= REMEMBERED_QUERIES) this.#parsed.clear();
    this.#parsed.set(query, result.expr);
    return result.expr;
  }
}

function toSeconds(points: {
  readonly labels: { readonly names: readonly string[]; readonly values: readonly string[] };
  readonly times: Float64Array;
  readonly values: Float64Array;
}): RangeSeries {
  const { labels, times, values } = points;
  const record: Record<string, string> = Object.create(null);
  labels.names.forEach((name, index) => {
    record[name] = labels.values[index]!;
  });
  return { labels: record, times: times.map((time) => time / 1000), values };
}

/** A text as one word of a POSIX shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const BY_QUERY_ERROR: Partial<Record<QueryErrorCode, SourceErrorCode>> = {
  too_many_steps: 'too_large',
  too_many_series: 'too_large',
  too_many_samples: 'too_large',
  timeout: 'timeout',
  aborted: 'cancelled',
};

const BY_STORE_ERROR: Partial<Record<StoreErrorCode, SourceErrorCode>> = {
  store_unavailable: 'unreachable',
  store_unsupported: 'unreachable',
  query_timeout: 'timeout',
  query_too_large: 'too_large',
  query_cancelled: 'cancelled',
  query_invalid: 'bad_query',
};

function toSourceError(error: unknown): unknown {
  if (error instanceof QueryError) {
    return new SourceError(BY_QUERY_ERROR[error.code] ?? 'bad_query', error.message, { cause: error });
  }
  if (error instanceof StoreError) {
    return new SourceError(BY_STORE_ERROR[error.code] ?? 'server_error', error.message, { cause: error });
  }
  if (error instanceof Error && error.name === 'AbortError') {
    return new SourceError('cancelled', 'The query was cancelled.', { cause: error });
  }
  return error;
}
