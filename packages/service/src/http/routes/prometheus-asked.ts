/** What the handlers of Prometheus' API are given, and how they are registered. */
import type { MetricReader } from '../../metric-store/index.ts';
import type { Parameters } from './prometheus-parameters.ts';

/** What a request is about. */
export interface Asked {
  readonly reader: MetricReader;
  readonly org: string;
  readonly parameters: Parameters;
  /** The label that the path names; empty when it names none. */
  readonly label: string;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now: number;
}

type Handler = (asked: Asked) => Promise<unknown>;

/** Adds a route under both prefixes. */
export type AddRoute = (method: 'GET' | 'GET or POST', path: string, handler: Handler) => void;
