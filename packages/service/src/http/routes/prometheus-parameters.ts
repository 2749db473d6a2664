/** Reads the parameters of Prometheus' HTTP API in its formats, and refuses them in its words. */
import { lineColumn, type ParsedQuery, parse, parseDuration } from '@obsiac/promql';
import type { FastifyRequest } from 'fastify';
import { ApiFailure } from './prometheus-answers.ts';

/** What a client may name at most; Prometheus counts in 64 bits of nanoseconds. */
const LAST_SECOND = 9_223_372_036;

export class Parameters {
  readonly #query: URLSearchParams;
  readonly #form: URLSearchParams;

  /** Of the address and, in a POST, of the form in its body. */
  constructor(request: FastifyRequest) {
    const question = request.url.indexOf('?');
    this.#query = new URLSearchParams(question < 0 ? '' : request.url.slice(question + 1));
    this.#form = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
  }

  /** The first value; one of the form comes before one of the address. Empty when there is none. */
  text(name: string): string {
    return this.#form.get(name) ?? this.#query.get(name) ?? '';
  }

  all(name: string): string[] {
    return [...this.#form.getAll(name), ...this.#query.getAll(name)];
  }

  /** Milliseconds since 1970. @throws ApiFailure */
  time(name: string, otherwise?: number): number {
    const text = this.text(name);
    if (text === '' && otherwise !== undefined) return otherwise;
    const time = readTime(text);
    if (time === undefined) throw badParameter(name, `cannot parse "${text}" to a valid timestamp`);
    return time;
  }

  /** Milliseconds; undefined when it is not given. @throws ApiFailure */
  duration(name: string): number | undefined {
    const text = this.text(name);
    if (text === '') return undefined;
    const duration = readDuration(text);
    if (duration === undefined) throw badParameter(name, `cannot parse "${text}" to a valid duration`);
    return duration;
  }

  /** A whole number that is not negative; 0 when it is not given. @throws ApiFailure */
  limit(name = 'limit'): number {
    const text = this.text(name);
    if (text === '') return 0;
    if (/^-\d+$/.test(text)) throw badParameter(name, 'limit must be non-negative');
    if (!/^\d{1,15}$/.test(text)) throw badParameter(name, `cannot parse "${text}" to a valid number`);
    return Number(text);
  }

  /** @throws ApiFailure */
  expression(): ParsedQuery {
    const text = this.text('query');
    const result = parse(text);
    if (result.ok) return result;
    throw badParameter('query', problemsOf(text, result.problems));
  }
}

export function problemsOf(
  text: string,
  problems: readonly { readonly message: string; readonly from: number }[],
): string {
  const [first] = problems;
  if (first === undefined) return 'parse error';
  const { line, column } = lineColumn(text, first.from);
  return `${line}:${column}: parse error: ${first.message}`;
}

export function badParameter(name: string, what: string): ApiFailure {
  return new ApiFailure('bad_data', `invalid parameter "${name}": ${what}`);
}

/** Seconds since 1970 with fractions, or RFC 3339. */
function readTime(text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
    const seconds = Number(text);
    return Math.abs(seconds) <= LAST_SECOND ? Math.round(seconds * 1000) : undefined;
  }
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** Seconds with fractions, or a duration such as `1m30s`. */
function readDuration(text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) {
    const seconds = Number(text);
    return Math.abs(seconds) <= LAST_SECOND ? Math.trunc(Math.round(seconds * 1e9) / 1e6) : undefined;
  }
  const duration = parseDuration(text);
  return 'ms' in duration ? duration.ms : undefined;
}
