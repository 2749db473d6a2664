/** Plans what is in one entity: its indicators, its rules and its channels. */
import { bindingKey, childAddress } from '../address.ts';
import type { AlertRule, ChannelBinding, Entity, Indicator } from '../model.ts';
import type { AppliedEntity, AppliedObject } from '../state/state.ts';
import { type ChildPlan, type Pending, planChildren, type Scope } from './children.ts';
import type { Kinds } from './kinds.ts';
import type { Held } from './match.ts';
import type { Moves } from './moves.ts';
import type { ActualEntity, ChannelChange } from './plan.ts';
import type { ChannelResolver } from './references.ts';

/** What the planning of every entity needs. */
export interface Planning {
  readonly kinds: Kinds;
  readonly moves: Moves;
  readonly pending: Pending;
  readonly resolveChannel: ChannelResolver;
  /** What the service holds, by `external_ref`. */
  readonly actual: ReadonlyMap<string, ActualEntity>;
  /** What the state remembers, by `external_ref`. */
  readonly applied: ReadonlyMap<string, AppliedEntity>;
}

/** One entity as it is wanted, as the service holds it, and as the state remembers it. */
export interface Sides {
  readonly desired?: Entity;
  readonly actual?: ActualEntity;
  readonly applied?: AppliedEntity;
}

export interface Contents {
  readonly indicators: ChildPlan<'indicator', Indicator>;
  readonly rules: ChildPlan<'alert_rule', AlertRule>;
  readonly channels: ChildPlan<'channel', ChannelBinding> & { readonly wanted: readonly ChannelChange[] };
}

/** `before`: the addresses of changes that all of them wait for. */
export function planContents(planning: Planning, scope: Scope, sides: Sides, before: readonly string[]): Contents {
  const { kinds, moves } = planning;
  const { desired, actual, applied } = sides;
  const indicators = planChildren(
    kinds.indicator,
    scope,
    {
      desired: byKey(desired?.indicators, nameOf),
      actual: heldBy(actual?.entity.indicators, nameOf, actual?.indicatorIds),
      state: mapOf(applied?.indicators),
      moves: moves.of(scope.ref, 'indicator'),
    },
    () => before,
  );
  const rules = planChildren(
    kinds.alert_rule,
    scope,
    {
      desired: byKey(desired?.alert_rules, nameOf),
      actual: heldBy(actual?.entity.alert_rules, nameOf, actual?.ruleIds),
      state: mapOf(applied?.alert_rules),
      moves: moves.of(scope.ref, 'alert_rule'),
    },
    ruleDependencies(scope.ref, before, indicators),
  );
  const channels = planChildren(
    kinds.channel,
    scope,
    {
      desired: byKey(desired?.notification_channels, bindingKey),
      actual: heldBy(actual?.entity.notification_channels, bindingKey, actual?.bindingIds),
      state: byKey(applied?.channels, bindingKey),
      moves: new Map(),
    },
    () => before,
  );
  const wanted = channels.wanted.map((change) => withChannel(change, planning.resolveChannel));
  return { indicators, rules, channels: { ...channels, wanted } };
}

/** Adds the channel of the organisation to attach. */
function withChannel(change: ChannelChange, resolve: ChannelResolver): ChannelChange {
  const channel = change.desired ? resolve(change.desired) : null;
  return channel === null ? change : { ...change, channelId: channel.id };
}

/** A rule waits for the indicators it names, when those are made or renamed. */
function ruleDependencies(
  ref: string,
  before: readonly string[],
  indicators: Contents['indicators'],
): (rule: AlertRule) => readonly string[] {
  const awaited = new Set(
    indicators.wanted.filter(({ action }) => action === 'create' || action === 'move').map((change) => change.address),
  );
  if (awaited.size === 0) return () => before;
  return (rule) => {
    const addresses = [...usedIndicators(rule)].map((name) => childAddress(ref, 'indicator', name));
    const after = addresses.filter((address) => awaited.has(address));
    return after.length === 0 ? before : [...before, ...after];
  };
}

/** Names of the indicators that a rule refers to. */
export function usedIndicators(rule: AlertRule): ReadonlySet<string> {
  return new Set(rule.pattern ? [rule.indicator, rule.pattern.indicator] : [rule.indicator]);
}

const nameOf = (object: { readonly name: string }) => object.name;

/** By name. Should there be two of one name, the first counts. */
function byKey<Value>(
  values: readonly Value[] | undefined,
  keyOf: (value: Value) => string,
): ReadonlyMap<string, Value> {
  const map = new Map<string, Value>();
  for (const value of values ?? []) {
    const key = keyOf(value);
    if (!map.has(key)) map.set(key, value);
  }
  return map;
}

function heldBy<Value>(
  values: readonly Value[] | undefined,
  keyOf: (value: Value) => string,
  ids: Readonly<Record<string, string>> | undefined,
): ReadonlyMap<string, Held<Value>> {
  const map = new Map<string, Held<Value>>();
  for (const [key, value] of byKey(values, keyOf)) {
    map.set(key, { id: ids && Object.hasOwn(ids, key) ? (ids[key] ?? '') : '', value });
  }
  return map;
}

function mapOf(record: Readonly<Record<string, AppliedObject>> | undefined): ReadonlyMap<string, AppliedObject> {
  return new Map(record && Object.entries(record));
}
