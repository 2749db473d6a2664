/** The state: what the last apply left behind, as ids and digests. It never holds a secret or a query. */

export const STATE_VERSION = 1;

/** One applied object: the service's id and the digest of the canonical form that was applied. */
export interface AppliedObject {
  readonly id: string;
  readonly digest: string;
}

export interface AppliedChannel {
  /** Id of the binding row in the service. */
  readonly id: string;
  readonly name: string;
  readonly severity: string;
  readonly digest: string;
}

export interface AppliedEntity extends AppliedObject {
  readonly indicators: Readonly<Record<string, AppliedObject>>;
  readonly alert_rules: Readonly<Record<string, AppliedObject>>;
  readonly channels: readonly AppliedChannel[];
}

/** An operation that was about to be sent; after a crash the next run finds out what became of it. */
export interface PendingOperation {
  readonly address: string;
  readonly action: 'create' | 'update' | 'delete';
  /** Known for update and delete. */
  readonly id?: string;
  /** Digest that the object has once the operation has succeeded. */
  readonly digest?: string;
}

export interface State {
  readonly version: number;
  /** Goes up by one with each write that changes content. */
  readonly serial: number;
  /** A UUID made with the first write: tells states of different origin apart. */
  readonly lineage: string;
  readonly tool_version: string;
  readonly api_base_url: string;
  readonly org: string;
  /** RFC 3339, UTC. */
  readonly updated_at: string;
  readonly entities: Readonly<Record<string, AppliedEntity>>;
  readonly pending: readonly PendingOperation[];
}

/** Where a state belongs. */
export interface StateOrigin {
  readonly lineage: string;
  readonly tool_version: string;
  readonly api_base_url: string;
  readonly org: string;
  /** RFC 3339, UTC. */
  readonly now: string;
}

/** The state before the first apply. Its serial is 0; the first write makes it 1. */
export function emptyState({ lineage, tool_version, api_base_url, org, now }: StateOrigin): State {
  return {
    version: STATE_VERSION,
    serial: 0,
    lineage,
    tool_version,
    api_base_url,
    org,
    updated_at: now,
    entities: {},
    pending: [],
  };
}
