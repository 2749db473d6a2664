/** A log record as OTLP delivers it, whichever of its two encodings it came in. */
import type { FieldValue } from '@obsiac/model';

/**
 * One LogRecord with its resource and scope (opentelemetry-proto `logs/v1/logs.proto`).
 * 64-bit integers are exact: a number where it is safe, else a bigint; bytes are base64 text.
 */
export interface OtlpRecord {
  /** Nanoseconds since the Unix epoch; 0 when the sender does not know it. */
  readonly timeUnixNano: bigint;
  /** Nanoseconds; 0 when the sender has not set it. */
  readonly observedTimeUnixNano: bigint;
  /** 0 to 24; 0 is unspecified. */
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: FieldValue;
  readonly attributes: Attributes;
  readonly droppedAttributesCount: number;
  readonly flags: number;
  /** Lower-case hex, empty when absent. */
  readonly traceId: string;
  readonly spanId: string;
  readonly eventName: string;
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string; readonly attributes: Attributes };
}

export type Attributes = Readonly<Record<string, FieldValue>>;

/** What is wrong with a request as a whole: it is answered with 400 and never retried. */
export class OtlpDecodeError extends Error {
  readonly code = 'otlp_undecodable';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'OtlpDecodeError';
  }
}

/** Deepest nesting of a body or an attribute; a request that goes deeper is refused. */
export const MAX_VALUE_DEPTH = 64;
