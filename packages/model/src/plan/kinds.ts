/** What the planner needs to know of each kind of object. */
import type { AlertRule, ChannelBinding, Entity, Indicator } from '../model.ts';
import {
  canonicalBinding,
  canonicalEntity,
  canonicalIndicator,
  canonicalRule,
  createComparison,
  digestOf,
} from './canonical.ts';
import type { Comparison } from './field-rules.ts';
import { compareBindings, compareEntities, compareIndicators, compareRules } from './fields.ts';
import type { FieldChange, Json, PlanInput, ResourceKind } from './plan.ts';

export interface Kind<Name extends ResourceKind, Value> {
  readonly name: Name;
  /** The canonical form as JSON text. */
  readonly form: (value: Value) => string;
  readonly digest: (form: string) => string;
  /** The fields that differ. `sameForm`: the two canonical forms are equal, which mostly settles it. */
  readonly compare: (desired: Value, actual: Value, sameForm: boolean) => readonly FieldChange[];
}

export interface Kinds {
  readonly entity: Kind<'entity', Entity>;
  readonly indicator: Kind<'indicator', Indicator>;
  readonly alert_rule: Kind<'alert_rule', AlertRule>;
  readonly channel: Kind<'channel', ChannelBinding>;
}

const NO_FIELDS: readonly FieldChange[] = [];

export function createKinds(input: PlanInput): Kinds {
  const comparison = createComparison(input.actual.data_sources);
  const kind = <Name extends ResourceKind, Value>(
    name: Name,
    canonical: (value: Value, comparison: Comparison) => Json,
    compare: (desired: Value, actual: Value, comparison: Comparison) => readonly FieldChange[],
    formIsWhole: boolean,
  ): Kind<Name, Value> => ({
    name,
    form: (value) => JSON.stringify(canonical(value, comparison)),
    digest: (form) => digestOf(form, input.sha256),
    compare: (desired, actual, sameForm) =>
      sameForm && formIsWhole ? NO_FIELDS : compare(desired, actual, comparison),
  });
  // The forms of entities and channels leave out what depends on how the model refers to a data source or a channel.
  return {
    entity: kind('entity', canonicalEntity, compareEntities, false),
    indicator: kind('indicator', canonicalIndicator, compareIndicators, true),
    alert_rule: kind('alert_rule', canonicalRule, compareRules, true),
    channel: kind('channel', canonicalBinding, compareBindings, false),
  };
}
