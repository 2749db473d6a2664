/** The difference between what a model wants and what a service holds, as a value that can be shown, saved and applied. */
import type { Diagnostic, Source } from '../diagnostic.ts';
import type { AlertRule, ChannelBinding, Entity, Indicator } from '../model.ts';
import type { State } from '../state/state.ts';

export type ResourceKind = 'entity' | 'indicator' | 'alert_rule' | 'channel';

/** `adopt`: the object exists, is wanted and was not in the state; it is taken into the state, changed where `fields` says so. */
export type Action = 'create' | 'update' | 'delete' | 'move' | 'adopt' | 'noop';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** One field that differs. `path` is written as in the YAML, for example `threshold.greater_than` is `greater_than`. */
export interface FieldChange {
  readonly path: string;
  /** Undefined: absent. */
  readonly before?: Json;
  readonly after?: Json;
  readonly source?: Source;
}

/** Why a change is there: the model changed, somebody changed the service (drift), or both. */
export type ChangeReason = 'new' | 'model' | 'drift' | 'removed' | 'renamed' | 'adopted' | 'interrupted';

interface ChangeOf<Kind extends ResourceKind, Value> {
  readonly kind: Kind;
  readonly action: Action;
  /** `external_ref`, `external_ref/indicators/NAME`, `external_ref/alert_rules/NAME`, `external_ref/notification_channels/NAME/SEVERITY`. */
  readonly address: string;
  /** For `move`: the address before. */
  readonly previousAddress?: string;
  readonly reason: ChangeReason;
  /** The service's id; absent for `create`. */
  readonly id?: string;
  /** The wanted value; absent for `delete`. */
  readonly desired?: Value;
  /** What the service holds; absent for `create`. */
  readonly actual?: Value;
  readonly fields: readonly FieldChange[];
  /** Digest to keep in the state once done; absent for `delete`. */
  readonly digest?: string;
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

/** A difference between the state and the service: somebody else changed or deleted what was applied. */
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
  /** Objects of the organisation that neither model nor state knows; they are left alone. */
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

/** What a service holds, read with the read token alone. */
export interface Actual {
  readonly entities: readonly ActualEntity[];
  readonly channels: readonly ActualChannel[];
  readonly data_sources: readonly ActualDataSource[];
}

export interface PlanInput {
  readonly desired: {
    readonly entities: readonly Entity[];
    readonly moved: readonly { readonly from: string; readonly to: string; readonly source?: Source }[];
  };
  readonly actual: Actual;
  /** Null on the first run or when the state file was lost. */
  readonly state: State | null;
  /** SHA-256, hex; passed in because this package does no I/O and imports no runtime module. */
  readonly sha256: (text: string) => string;
}
