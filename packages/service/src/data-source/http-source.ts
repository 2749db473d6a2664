/** A data source that is asked over HTTP: Prometheus, VictoriaMetrics, Thanos, Mimir. */
import { Pool } from 'undici';
import { VERSION } from '../version.ts';
import { ErrorInside, type ReadAnswer } from './answer.ts';
import { AnswerReader } from './answer-reader.ts';
import { curlLine } from './curl.ts';
import { abortedBy, type Exchanged, exchange } from './exchange.ts';
import { type Endpoint, endpointOf, type HttpSourceConfig } from './http-config.ts';
import { apiError, clipped, connectionError, statusError, withoutSecrets } from './refusals.ts';
import { type RangeAnswer, type RangeRequest, type SourceClient, SourceError } from './source.ts';
import { connectorOf } from './tls.ts';
import { Turns } from './turns.ts';

export interface HttpSourceOptions {
  /** Bytes of one answer after decompression; 16 MB unless told. */
  readonly maxBytes?: number;
  /** Series of one answer; as many as come unless told. */
  readonly maxSeries?: number;
  /** Shared by the data sources of a process; one of its own unless told. */
  readonly reader?: AnswerReader;
}

const MAX_BYTES = 16_000_000;
/** Milliseconds that an unused connection is kept: less than servers and what stands before them keep theirs. */
const KEEP_ALIVE = 30_000;
/** Milliseconds that a connection may take at most. */
const CONNECT_TIMEOUT = 10_000;

/**
 * Keeps connections (HTTP/1.1, as many as queries at a time) until it is closed. Variables such as `HTTPS_PROXY` have no effect.
 * @throws TypeError when the address is none
 */
export function createHttpSource(config: HttpSourceConfig, options: HttpSourceOptions = {}): SourceClient {
  return new HttpSource(config, options);
}

class HttpSource implements SourceClient {
  readonly evaluationDelay: number;
  readonly #config: HttpSourceConfig;
  readonly #endpoint: Endpoint;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #pool: Pool;
  readonly #turns: Turns;
  readonly #reader: AnswerReader;
  readonly #ownsReader: boolean;
  readonly #limits: { readonly maxBytes: number; readonly maxSeries: number };
  #isClosed = false;

  constructor(config: HttpSourceConfig, options: HttpSourceOptions) {
    this.#config = config;
    this.#endpoint = endpointOf(config);
    this.#headers = headersOf(this.#endpoint);
    this.evaluationDelay = this.#endpoint.evaluationDelay;
    const { origin, concurrency, timeout, tls } = this.#endpoint;
    this.#pool = new Pool(origin, {
      connections: concurrency,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE,
      // A connection error is to be told within the time of the query.
      connect: connectorOf(tls, Math.min(CONNECT_TIMEOUT, timeout * 0.8)),
    });
    this.#turns = new Turns(concurrency);
    this.#reader = options.reader ?? new AnswerReader();
    this.#ownsReader = options.reader === undefined;
    this.#limits = {
      maxBytes: options.maxBytes ?? MAX_BYTES,
      maxSeries: options.maxSeries ?? Number.POSITIVE_INFINITY,
    };
  }

  /** The time-out begins with the query's turn, not while it waits behind others: for that there is the signal. */
  async queryRange(request: RangeRequest): Promise<RangeAnswer> {
    try {
      await this.#turns.take(request.signal);
    } catch (error) {
      throw this.#isClosed ? error : abortedBy(request.signal);
    }
    try {
      return await this.#ask(request);
    } catch (error) {
      throw this.#isClosed ? cancelled(error) : this.#told(error);
    } finally {
      this.#turns.giveBack();
    }
  }

  curl(request: Omit<RangeRequest, 'signal'>): string {
    return curlLine(this.#endpoint, this.#config.properties, this.#form(request));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#turns.end(cancelled());
    await this.#pool.destroy();
    if (this.#ownsReader) await this.#reader.close();
  }

  async #ask(request: RangeRequest): Promise<RangeAnswer> {
    const { timeout, target } = this.#endpoint;
    const answer = await exchange(
      this.#pool,
      { path: target, headers: this.#headers, body: new URLSearchParams(this.#form(request)).toString() },
      { signal: request.signal, timeout, maxBytes: this.#limits.maxBytes },
    );
    if (answer.status !== 200) throw statusError(this.#censored(answer), this.#endpoint, Date.now());
    // Reading hands the body to another thread, which leaves it empty here.
    const bytes = answer.body.length;
    const { series, warnings } = await this.#read(answer);
    return { series, warnings: warnings.map((warning) => clipped(this.#censor(warning))), bytes };
  }

  async #read({ body }: Exchanged): Promise<ReadAnswer> {
    try {
      return await this.#reader.read(body, this.#limits);
    } catch (error) {
      if (!(error instanceof ErrorInside)) throw error;
      throw apiError({ errorType: error.errorType, error: this.#censor(error.message) }, 200, this.#endpoint);
    }
  }

  #form({ query, start, end, step }: Omit<RangeRequest, 'signal'>): Record<string, string> {
    const { parameters, timeout } = this.#endpoint;
    return {
      query,
      start: String(start),
      end: String(end),
      step: String(step),
      // Seconds: the server too gives up what nobody waits for.
      timeout: String(timeout / 1000),
      ...parameters,
    };
  }

  #censor(text: string): string {
    return withoutSecrets(text, this.#endpoint.secrets);
  }

  #censored(answer: Exchanged): Exchanged {
    if (this.#endpoint.secrets.length === 0) return answer;
    return { ...answer, body: Buffer.from(this.#censor(answer.body.toString('utf8'))) };
  }

  #told(error: unknown): SourceError {
    const told = connectionError(error, this.#endpoint);
    const message = clipped(this.#censor(told.message));
    if (message === told.message) return told;
    const { code, retryAfter } = told;
    return new SourceError(code, message, retryAfter === undefined ? {} : { retryAfter });
  }
}

function headersOf({ headers }: Endpoint): Record<string, string> {
  return {
    accept: 'application/json',
    // Answers are small, and packing them costs both sides more than sending them.
    'accept-encoding': 'identity',
    'user-agent': `obsiac/${VERSION}`,
    ...headers,
    'content-type': 'application/x-www-form-urlencoded',
  };
}

function cancelled(cause?: unknown): SourceError {
  return new SourceError('cancelled', 'The data source was closed.', { cause });
}
