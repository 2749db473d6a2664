/** Generated models that belong together: a model and its successor, and the channels that both need. */
import fc from 'fast-check';
import type { ActualChannel, AlertRule, ChannelBinding, Entity, Model } from '../src/index.ts';
import { entityArbitrary } from './arbitrary.ts';

const REFS = ['checkout', 'constructor', 'kafka-eu', '1'];

/** A model, a later version of it that keeps, changes, drops and adds objects, and the channels of the organisation. */
export interface Succession {
  readonly first: Model;
  readonly second: Model;
  readonly channels: readonly ActualChannel[];
}

/** One alert manager in two versions. */
const entityPairArbitrary = (ref: string) =>
  fc.record({
    before: entityArbitrary(ref),
    after: entityArbitrary(ref),
    kept: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    isIn: fc.constantFrom<readonly [boolean, boolean]>(
      [true, true],
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ),
  });

export const successionArbitrary: fc.Arbitrary<Succession> = fc.tuple(...REFS.map(entityPairArbitrary)).map((pairs) => {
  const first = pairs.filter(({ isIn }) => isIn[0]).map(({ before }) => before);
  const second = pairs
    .filter(({ isIn }) => isIn[1])
    .map(({ before, after, kept, isIn }) => (isIn[0] ? succeed(before, after, kept) : after));
  return withChannels(first, second);
});

/** What `after` says, together with the objects of `before` that are kept as they are or under changed settings. */
function succeed(before: Entity, after: Entity, kept: readonly boolean[]): Entity {
  const keep = (_: unknown, index: number) => kept[index % kept.length]!;
  const indicators = uniqueBy([...before.indicators.filter(keep), ...after.indicators], ({ name }) => name);
  const names = new Set(indicators.map(({ name }) => name));
  const usable = (rule: AlertRule) => names.has(rule.indicator);
  const old = before.alert_rules
    .filter(keep)
    .filter(usable)
    .map((rule, index) => ({ ...rule, mute: kept[index]! }));
  return {
    ...(kept[0] ? { ...before } : { ...after }),
    indicators,
    alert_rules: uniqueBy([...old, ...after.alert_rules.filter(usable)], ({ name }) => name),
    notification_channels: uniqueBy(
      [...before.notification_channels.filter(keep), ...after.notification_channels],
      ({ name, severity }) => `${name}/${severity}`,
    ),
  };
}

function uniqueBy<Value>(values: readonly Value[], keyOf: (value: Value) => string): Value[] {
  return [...new Map(values.map((value) => [keyOf(value), value])).values()];
}

/** Gives each channel name one type throughout, and makes the organisation's channels from them. */
function withChannels(first: readonly Entity[], second: readonly Entity[]): Succession {
  const types = new Map<string, string>();
  for (const { name, type } of [...first, ...second].flatMap((entity) => entity.notification_channels)) {
    if (type !== null && !types.has(name)) types.set(name, type);
    if (type === null && !types.has(name)) types.set(name, 'slack');
  }
  const consistent = (binding: ChannelBinding): ChannelBinding => ({
    ...binding,
    type: binding.type && (types.get(binding.name) as ChannelBinding['type']),
  });
  const repair = (entities: readonly Entity[]): Model => ({
    entities: entities.map((entity) => ({
      ...entity,
      notification_channels: entity.notification_channels.map(consistent),
    })),
    moved: [],
  });
  const channels = [...types].map(([name, type], index) => ({ id: `${index + 1}`, name, type }));
  return { first: repair(first), second: repair(second), channels };
}
