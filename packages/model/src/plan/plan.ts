/** The difference between what a model wants and what a service holds, as a value that can be shown, saved and applied. */
import type { Diagnostic, Source } from '../diagnostic.ts';
import type { AlertRule, ChannelBinding, Entity, Indicator, Moved } from '../model.ts';
import type { State } from '../state/state.ts';

export type ResourceKind = 'entity' | 'indicator' | 'alert_rule' | 'channel';

/**
 * `adopt`: the object exists, is wanted and was not in the state; it is taken into the state, changed where `fields` says so.
 * `move`: the object keeps its id under a new address, and changes where `fields` says so.
 * `noop`: the service already holds what is wanted; recording it may still refresh the state's id, digest or address.
 * `forget`: the state knows it, neither the model nor the service does; it leaves the state and nothing is sent.
 */
export type Action = 'create' | 'update' | 'delete' | 'move' | 'adopt' | 'noop' | 'forget';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** One field that differs. `path` is written as in the YAML, for example `threshold.greater_than` is `greater_than`. */
export interface FieldChange {
  readonly path: string;
  /** Undefined: absent. */
  readonly before?: Json;
  readonly after?: Json;
  readonly source?: Source;
}

/**
 * Why a change is there. `drift`: the model is as it was when it was last applied, and the service is not.
 * `model`: the model differs from what was last applied, whether or not somebody changed the service too (then it is
 * listed in `Plan.drift`); also the reason of a `noop` that is neither drift nor interrupted. `interrupted`: it ends an
 * operation that an earlier apply had begun.
 */
export type ChangeReason = 'new' | 'model' | 'drift' | 'removed' | 'renamed' | 'adopted' | 'interrupted';

/** What the changes of every kind have in common. */
export interface ChangeOf<Kind extends ResourceKind, Value> {
  readonly kind: Kind;
  readonly action: Action;
  /** `external_ref`, `external_ref/indicators/NAME`, `external_ref/alert_rules/NAME`, `external_ref/notification_channels/NAME/SEVERITY`. */
  readonly address: string;
  /**
   * The address before, for `move`, and for a `noop` whose move is already done in the service. Under an entity that
   * moves, indicators and rules have one only when they are renamed themselves; it begins with the entity's new name.
   */
  readonly previousAddress?: string;
  readonly reason: ChangeReason;
  /** The service's id; absent for `create`. */
  readonly id?: string;
  /** The wanted value; absent for `delete` and `forget`, and for `noop` in a saved plan. */
  readonly desired?: Value;
  /** What the service holds; absent for `create` and `forget`, and for `noop` in a saved plan. */
  readonly actual?: Value;
  /** What differs, for `update`, `move` and `adopt`; empty otherwise: `shownFields` lists those of the other actions. */
  readonly fields: readonly FieldChange[];
  /** Digest to keep in the state once done; absent for `delete` and `forget`. */
  readonly digest?: string;
  /** Addresses of changes that must have succeeded first; when one of them failed, this one is skipped. */
  readonly after: readonly string[];
  /** For a `delete` that the service does by itself when it deletes the entity at this address: nothing is sent. */
  readonly impliedBy?: string;
  readonly source?: Source;
}

/** For an entity, `desired` and `actual` carry its own fields; indicators, rules and channels are changes of their own. */
export type EntityChange = ChangeOf<'entity', Entity>;
export type IndicatorChange = ChangeOf<'indicator', Indicator>;
export type AlertRuleChange = ChangeOf<'alert_rule', AlertRule>;
export type ChannelChange = ChangeOf<'channel', ChannelBinding> & {
  /** Id of the organisation's channel that is attached. */
  readonly channelId?: string;
};
export type Change = EntityChange | IndicatorChange | AlertRuleChange | ChannelChange;

/**
 * A difference between the state and the service: somebody else changed or deleted what was applied.
 * A deleted entity is listed by itself, without its indicators, rules and channels.
 */
export interface Drift {
  readonly address: string;
  readonly kind: ResourceKind;
  readonly what: 'changed' | 'deleted';
  readonly source?: Source;
}

/** A deletion and a creation that look like one rename. Binding only when the model says so with `moved`. */
export interface RenameSuggestion {
  readonly kind: ResourceKind;
  readonly from: string;
  readonly to: string;
  readonly source?: Source;
}

/**
 * Counts of changes by action. `update` also counts moved and adopted objects whose other fields change, and `delete`
 * also those that go with their entity, as people know it from Terraform.
 */
export interface Totals {
  readonly create: number;
  readonly update: number;
  readonly delete: number;
  readonly move: number;
  readonly adopt: number;
}

export interface Plan {
  /** In the order of the model; deletions last. `noop` changes are included so that progress and state can be whole. */
  readonly changes: readonly Change[];
  readonly drift: readonly Drift[];
  readonly renames: readonly RenameSuggestion[];
  readonly totals: Totals;
  /**
   * Objects that neither model nor state knows; they are left alone. `entities`: of the organisation; the others: inside
   * the entities that the model or the state knows.
   */
  readonly unmanaged: {
    readonly entities: number;
    readonly indicators: number;
    readonly alert_rules: number;
    readonly channels: number;
  };
  /** How many objects the state manages, for the guard against mass deletion. */
  readonly managed: number;
  /** Errors here (an unknown channel or data source) make the plan unusable for apply. */
  readonly diagnostics: readonly Diagnostic[];
}

/** An entity as the service holds it: model terms plus the service's ids. */
export interface ActualEntity {
  readonly id: string;
  readonly entity: Entity;
  /** Indicator name to id. */
  readonly indicatorIds: Readonly<Record<string, string>>;
  /** Rule name to id. */
  readonly ruleIds: Readonly<Record<string, string>>;
  /** `NAME/SEVERITY` to the id of the binding row. */
  readonly bindingIds: Readonly<Record<string, string>>;
}

/** A notification channel of the organisation, without its secret. */
export interface ActualChannel {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

export interface ActualDataSource {
  readonly id: string;
  readonly name: string;
  readonly is_default: boolean;
}

/** What a plan was made against; `apply FILE` refuses when the service's revision or the state has moved since. */
export interface PlanBase {
  /** The organisation's revision in the service. */
  readonly revision: number;
  /** Serial and lineage of the state; null when there was none. */
  readonly serial: number | null;
  readonly lineage: string | null;
  readonly org: string;
  readonly api_base_url: string;
  readonly tool_version: string;
  /** RFC 3339, UTC. */
  readonly created: string;
}

/** What a service holds, read with the read token alone. */
export interface Actual {
  readonly entities: readonly ActualEntity[];
  readonly channels: readonly ActualChannel[];
  readonly data_sources: readonly ActualDataSource[];
}

/** SHA-256 of a text's UTF-8 bytes, in lower-case hex. */
export type Sha256 = (text: string) => string;

export interface PlanInput {
  readonly desired: {
    readonly entities: readonly Entity[];
    readonly moved: readonly Moved[];
  };
  readonly actual: Actual;
  /** Null on the first run or when the state file was lost. */
  readonly state: State | null;
  /** Passed in because this package does no I/O and imports no runtime module. */
  readonly sha256: Sha256;
}
