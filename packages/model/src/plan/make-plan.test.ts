/** Single situations of the three-way comparison. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyPlan, planFor } from '../../test/apply-plan.ts';
import { successionArbitrary } from '../../test/models.ts';
import { ReferenceService, sha256 } from '../../test/reference-service.ts';
import {
  heldEntity,
  lines,
  makeBinding,
  makeEntity,
  makeIndicator,
  makeRule,
  planOf,
  serviceWith,
  stateAfter,
} from '../../test/situations.ts';
import type { Entity, Moved } from '../model.ts';
import type { State } from '../state/state.ts';
import { plan } from './make-plan.ts';
import { hasChanges } from './summary.ts';

const checkout = makeEntity();
const kafka = makeEntity({ external_ref: 'kafka', name: 'Kafka', notification_channels: [] });

const rulesNamed = (...names: readonly string[]) => names.map((name) => makeRule({ name }));

describe('a first plan', () => {
  test('creates everything, in the order of the model', () => {
    expect(lines(planOf([kafka, checkout], serviceWith(), null))).toEqual([
      'create kafka (new)',
      'create kafka/indicators/errors (new)',
      'create kafka/alert_rules/too many errors (new)',
      'create checkout (new)',
      'create checkout/indicators/errors (new)',
      'create checkout/alert_rules/too many errors (new)',
      'create checkout/notification_channels/oncall/breach (new)',
    ]);
  });

  test('takes over what exists and is wanted, with its changes, and counts the rest as unmanaged', () => {
    const held = makeEntity({
      tags: ['old'],
      indicators: [makeIndicator(), makeIndicator({ name: 'latency' })],
      alert_rules: [makeRule({ mute: true }), ...rulesNamed('foreign', 'foreign too')],
      notification_channels: [makeBinding(), makeBinding({ severity: 'threat' })],
    });
    const made = planOf([checkout], serviceWith(held, kafka), null);
    expect(lines(made)).toEqual([
      'adopt checkout (adopted) tags',
      'adopt checkout/indicators/errors (adopted)',
      'adopt checkout/alert_rules/too many errors (adopted) mute',
      'adopt checkout/notification_channels/oncall/breach (adopted)',
    ]);
    expect(made.unmanaged).toEqual({ entities: 1, indicators: 1, alert_rules: 2, channels: 1 });
    expect(made.totals).toEqual({ create: 0, update: 2, delete: 0, move: 0, adopt: 4 });
    expect(made.managed).toBe(0);
  });

  test('is not confused by names that every object has', () => {
    const odd = makeEntity({
      external_ref: 'constructor',
      indicators: [makeIndicator({ name: 'toString' })],
      alert_rules: [makeRule({ name: '__proto__', indicator: 'toString' })],
    });
    const state = stateAfter(serviceWith(checkout));
    const made = planOf([checkout, odd], serviceWith(checkout), state);
    expect(made.changes.filter(({ action }) => action === 'create').map(({ address }) => address)).toEqual([
      'constructor',
      'constructor/indicators/toString',
      'constructor/alert_rules/__proto__',
      'constructor/notification_channels/oncall/breach',
    ]);
    const actual = serviceWith(checkout, odd);
    expect(hasChanges(planOf([checkout, odd], actual, stateAfter(actual)))).toBe(false);
  });
});

describe('what the model no longer has', () => {
  test('is deleted last, when it is in the state', () => {
    const actual = serviceWith(makeEntity({ alert_rules: rulesNamed('a', 'b') }), kafka);
    const made = planOf([makeEntity({ alert_rules: rulesNamed('b', 'c') }), kafka], actual, stateAfter(actual));
    expect(lines(made)).toEqual(['create checkout/alert_rules/c (new)', 'delete checkout/alert_rules/a (removed)']);
    expect(made.changes.at(-1)).toMatchObject({ id: 'checkout:a', actual: { name: 'a' } });
  });

  test('goes with its alert manager, and is marked so', () => {
    const actual = serviceWith(checkout, kafka);
    const made = planOf([checkout], actual, stateAfter(actual));
    const deleted = made.changes.filter(({ action }) => action === 'delete');
    expect(deleted.map(({ address, impliedBy }) => [address, impliedBy])).toEqual([
      ['kafka', undefined],
      ['kafka/alert_rules/too many errors', 'kafka'],
      ['kafka/indicators/errors', 'kafka'],
    ]);
    expect(made.totals.delete).toBe(3);
  });

  test('takes unmanaged objects with it only with a warning', () => {
    const before = serviceWith(kafka);
    const more = makeEntity({ ...kafka, alert_rules: [...kafka.alert_rules, ...rulesNamed('x', 'y')] });
    const made = planOf([], serviceWith(more), stateAfter(before));
    expect(made.changes.filter(({ action }) => action === 'delete')).toHaveLength(3);
    expect(made.diagnostics).toMatchObject([
      { code: 'entity/unmanaged-children', severity: 'warning', detail: expect.stringContaining('2 alert rules') },
    ]);
  });

  test('is warned of when an unmanaged rule uses it', () => {
    const before = makeEntity({ alert_rules: [] });
    const held = makeEntity({ alert_rules: rulesNamed('foreign') });
    const made = planOf(
      [makeEntity({ alert_rules: [], indicators: [] })],
      serviceWith(held),
      stateAfter(serviceWith(before)),
    );
    expect(lines(made)).toEqual(['delete checkout/indicators/errors (removed)']);
    expect(made.diagnostics.map(({ code }) => code)).toEqual(['indicator/used-by-unmanaged']);
    expect(made.diagnostics[0]?.detail).toContain('"foreign"');
  });
});

describe('drift', () => {
  const actual = serviceWith(checkout);
  const state = stateAfter(actual);

  test('of a field is shown and taken back', () => {
    const made = planOf([checkout], serviceWith(makeEntity({ alert_rules: [makeRule({ mute: true })] })), state);
    expect(lines(made)).toEqual(['update checkout/alert_rules/too many errors (drift) mute']);
    expect(made.drift).toEqual([
      { address: 'checkout/alert_rules/too many errors', kind: 'alert_rule', what: 'changed' },
    ]);
  });

  test('and a change of the model at once have the model as reason', () => {
    const held = serviceWith(makeEntity({ alert_rules: [makeRule({ mute: true })] }));
    const made = planOf([makeEntity({ alert_rules: [makeRule({ bad_minutes: 4 })] })], held, state);
    expect(lines(made)).toEqual(['update checkout/alert_rules/too many errors (model) bad_minutes mute']);
    expect(made.drift).toHaveLength(1);
  });

  test('that equals the model is shown, and only the state is refreshed', () => {
    const changed = makeEntity({ alert_rules: [makeRule({ mute: true })] });
    const made = planOf([changed], serviceWith(changed), state);
    expect(lines(made)).toEqual([]);
    expect(made.drift).toHaveLength(1);
    const rule = made.changes.find(({ kind }) => kind === 'alert_rule')!;
    expect(rule).toMatchObject({ action: 'noop', reason: 'drift' });
    expect(rule.digest).not.toBe(state.entities['checkout']?.alert_rules['too many errors']?.digest);
  });

  test('of a deleted rule makes it anew', () => {
    const made = planOf([checkout], serviceWith(makeEntity({ alert_rules: [] })), state);
    expect(lines(made)).toEqual(['create checkout/alert_rules/too many errors (drift)']);
    expect(made.drift).toEqual([
      { address: 'checkout/alert_rules/too many errors', kind: 'alert_rule', what: 'deleted' },
    ]);
  });

  test('of a deleted alert manager is shown once, and all in it is made anew', () => {
    const made = planOf([checkout], serviceWith(), state);
    expect(lines(made)).toEqual([
      'create checkout (drift)',
      'create checkout/indicators/errors (drift)',
      'create checkout/alert_rules/too many errors (drift)',
      'create checkout/notification_channels/oncall/breach (drift)',
    ]);
    expect(made.drift).toEqual([{ address: 'checkout', kind: 'entity', what: 'deleted' }]);
  });

  test('of a deleted object that is no longer wanted only leaves the state', () => {
    const made = planOf([makeEntity({ alert_rules: [] })], serviceWith(makeEntity({ alert_rules: [] })), state);
    expect(lines(made)).toEqual(['forget checkout/alert_rules/too many errors (drift)']);
    expect(made.drift).toMatchObject([{ what: 'deleted' }]);
    expect(hasChanges(made)).toBe(false);
    expect(lines(planOf([], serviceWith(), state))).toEqual(['forget checkout (drift)']);
  });

  test('of a rename in the service gives the old name back and keeps the id', () => {
    const renamed = makeEntity({ alert_rules: rulesNamed('renamed by hand') });
    const made = planOf([checkout], serviceWith(heldEntity(renamed, checkout)), state);
    expect(lines(made)).toEqual(['update checkout/alert_rules/too many errors (drift) name']);
    expect(made.changes.find(({ action }) => action === 'update')?.id).toBe('checkout:too many errors');
    expect(made.unmanaged.alert_rules).toBe(0);
  });

  test('of a rename in the service that the model follows changes only the state', () => {
    const renamed = makeEntity({ alert_rules: rulesNamed('renamed by hand') });
    const made = planOf([renamed], serviceWith(heldEntity(renamed, checkout)), state);
    expect(lines(made)).toEqual([]);
    expect(made.changes.find(({ kind }) => kind === 'alert_rule')).toMatchObject({
      action: 'noop',
      reason: 'drift',
      previousAddress: 'checkout/alert_rules/too many errors',
    });
  });

  test('of an object renamed in the service and gone from the model deletes it', () => {
    const renamed = makeEntity({ external_ref: 'renamed' });
    const made = planOf([], serviceWith(heldEntity(renamed, checkout)), state);
    expect(made.changes[0]).toMatchObject({ action: 'delete', address: 'checkout', id: 'checkout' });
    expect(made.unmanaged.entities).toBe(0);
  });

  test('is not suspected of digests that another version made', () => {
    const entity = state.entities['checkout']!;
    const older: State = {
      ...state,
      entities: { checkout: { ...entity, alert_rules: { 'too many errors': { id: 'x', digest: '0:older' } } } },
    };
    const made = planOf([checkout], serviceWith(makeEntity({ alert_rules: [makeRule({ mute: true })] })), older);
    expect(lines(made)).toEqual(['update checkout/alert_rules/too many errors (model) mute']);
    expect(made.drift).toEqual([]);
  });
});

describe('moved', () => {
  const actual = serviceWith(checkout);
  const state = stateAfter(actual);

  test('keeps the id of a rule, with other changes at the same time', () => {
    const desired = makeEntity({ alert_rules: [makeRule({ name: 'b', mute: true })] });
    const moved = [{ from: 'checkout/alert_rules/too many errors', to: 'checkout/alert_rules/b' }];
    const made = planOf([desired], actual, state, moved);
    expect(lines(made)).toEqual([
      'move checkout/alert_rules/too many errors -> checkout/alert_rules/b (renamed) name mute',
    ]);
    expect(made.changes.find(({ action }) => action === 'move')?.id).toBe('checkout:too many errors');
    expect(made.totals).toEqual({ create: 0, update: 1, delete: 0, move: 1, adopt: 0 });
    expect(made.renames).toEqual([]);
  });

  test('of an indicator updates the rules on it', () => {
    const pattern = { macro: 'high_spike', tolerance: 2 } as const;
    const before = makeEntity({ alert_rules: [makeRule({ pattern: { ...pattern, indicator: 'errors' } })] });
    const after = makeEntity({
      indicators: [makeIndicator({ name: 'failures' })],
      alert_rules: [makeRule({ indicator: 'failures', pattern: { ...pattern, indicator: 'failures' } })],
    });
    const moved = [{ from: 'checkout/indicators/errors', to: 'checkout/indicators/failures' }];
    const made = planOf([after], serviceWith(before), stateAfter(serviceWith(before)), moved);
    expect(lines(made)).toEqual([
      'move checkout/indicators/errors -> checkout/indicators/failures (renamed) name',
      'update checkout/alert_rules/too many errors (model) indicator expression',
    ]);
    expect(made.changes.find(({ kind }) => kind === 'alert_rule')?.after).toEqual(['checkout/indicators/failures']);
  });

  test('of an alert manager keeps all that is in it, and works together with a rename inside', () => {
    const desired = makeEntity({ external_ref: 'shop', alert_rules: rulesNamed('b') });
    for (const ref of ['checkout', 'shop']) {
      const moved = [
        { from: 'checkout', to: 'shop' },
        { from: `${ref}/alert_rules/too many errors`, to: 'shop/alert_rules/b' },
      ];
      const made = planOf([desired], actual, state, moved);
      expect(lines(made)).toEqual([
        'move checkout -> shop (renamed) external_ref',
        'move shop/alert_rules/too many errors -> shop/alert_rules/b (renamed) name',
      ]);
      expect(made.totals).toEqual({ create: 0, update: 0, delete: 0, move: 2, adopt: 0 });
    }
  });

  test('without a state still keeps the id', () => {
    const desired = makeEntity({ external_ref: 'shop' });
    const made = planOf([desired], actual, null, [{ from: 'checkout', to: 'shop' }]);
    expect(lines(made)[0]).toBe('move checkout -> shop (renamed) external_ref');
    expect(made.unmanaged.entities).toBe(0);
  });

  test('has no effect once it is done, or when there is nothing to move', () => {
    const moved = [
      { from: 'old', to: 'checkout' },
      { from: 'checkout/alert_rules/old', to: 'checkout/alert_rules/too many errors' },
    ];
    expect(hasChanges(planOf([checkout], actual, state, moved))).toBe(false);
  });

  test('does not take an object that the model still has', () => {
    const desired = [checkout, makeEntity({ external_ref: 'shop', notification_channels: [] })];
    const made = planOf(desired, actual, state, [{ from: 'checkout', to: 'shop' }]);
    expect(lines(made)[0]).toBe('create shop (new)');
  });

  test('to a name that somebody else has taken is blocked, with a warning', () => {
    const service = serviceWith(checkout, makeEntity({ external_ref: 'shop' }));
    const made = planOf([makeEntity({ external_ref: 'shop' })], service, state, [{ from: 'checkout', to: 'shop' }]);
    expect(made.diagnostics).toMatchObject([{ code: 'moved/blocked', severity: 'warning' }]);
    expect(lines(made)[0]).toBe('adopt shop (adopted)');
    expect(made.changes.find(({ address }) => address === 'checkout')?.action).toBe('delete');
  });

  test('of everything at once keeps every id, for any model', () => {
    fc.assert(
      fc.property(successionArbitrary, fc.boolean(), ({ first, channels }, cascadesRenames) => {
        const service = new ReferenceService({ channels, cascadesRenames });
        const { state: before } = applyPlan(service, planFor(first, service, null), null);
        const ids = (one: ReferenceService) =>
          one
            .actual()
            .entities.flatMap((held) => [held.id, ...Object.values(held.indicatorIds), ...Object.values(held.ruleIds)]);
        const known = ids(service).toSorted();
        const renamed = { entities: first.entities.map(renameAll), moved: first.entities.flatMap(movesOf) };
        const made = planFor(renamed, service, before);
        expect(made.totals.create + made.totals.delete + made.totals.adopt).toBe(0);
        const { state: after } = applyPlan(service, made, before);
        expect(ids(service).toSorted()).toEqual(known);
        const again = planFor(renamed, service, after);
        expect(lines(again)).toEqual([]);
        expect(again.drift).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('moving everything while the apply dies', () => {
  test('keeps every id and ends where an undisturbed apply does', () => {
    fc.assert(
      fc.property(
        successionArbitrary,
        fc.boolean(),
        fc.array(fc.nat(40), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        ({ first, channels }, cascadesRenames, deaths, saysMoved) => {
          const service = new ReferenceService({ channels, cascadesRenames });
          let { state } = applyPlan(service, planFor(first, service, null), null);
          const ids = () =>
            service
              .actual()
              .entities.flatMap((held) => [
                held.id,
                ...Object.values(held.indicatorIds),
                ...Object.values(held.ruleIds),
              ])
              .toSorted();
          const known = ids();
          const model = { entities: first.entities.map(renameAll), moved: first.entities.flatMap(movesOf) };
          for (const dieAfter of deaths) {
            state = applyPlan(service, planFor(model, service, state), state, { dieAfter, batch: 4 }).state;
          }
          const made = planFor(model, service, state);
          expect(made.totals.create + made.totals.delete + made.totals.adopt).toBe(0);
          // A service that renames the indicator in the rules on it has changed them without having been asked to.
          if (!cascadesRenames) expect(made.drift).toEqual([]);
          state = applyPlan(service, made, state).state;
          expect(ids()).toEqual(known);
          const again = planFor(saysMoved ? model : { ...model, moved: [] }, service, state);
          expect(lines(again)).toEqual([]);
        },
      ),
      { numRuns: 100 },
    );
  });
});

const renamed = (name: string) => `${name} (new)`;

function renameAll(entity: Entity): Entity {
  return {
    ...entity,
    external_ref: `${entity.external_ref}-new`,
    indicators: entity.indicators.map((one) => ({ ...one, name: renamed(one.name) })),
    alert_rules: entity.alert_rules.map((rule) => ({
      ...rule,
      name: renamed(rule.name),
      indicator: renamed(rule.indicator),
      ...(rule.pattern && { pattern: { ...rule.pattern, indicator: renamed(rule.pattern.indicator) } }),
    })),
  };
}

function movesOf({ external_ref: ref, indicators, alert_rules }: Entity): Moved[] {
  const inside = (section: string, name: string) => ({
    from: `${ref}/${section}/${name}`,
    to: `${ref}-new/${section}/${renamed(name)}`,
  });
  return [
    { from: ref, to: `${ref}-new` },
    ...indicators.map(({ name }) => inside('indicators', name)),
    ...alert_rules.map(({ name }) => inside('alert_rules', name)),
  ];
}

describe('an interrupted apply', () => {
  const actual = serviceWith(checkout);
  const state = stateAfter(actual);
  const rule = 'checkout/alert_rules/too many errors';
  const entity = state.entities['checkout']!;
  const withoutRule: State = { ...state, entities: { checkout: { ...entity, alert_rules: {} } } };
  const digest = entity.alert_rules['too many errors']!.digest;

  test('that had created a rule does not take it for foreign', () => {
    const made = planOf([checkout], actual, { ...withoutRule, pending: [{ address: rule, action: 'create', digest }] });
    expect(hasChanges(made)).toBe(false);
    expect(made.changes.find(({ address }) => address === rule)).toMatchObject({
      action: 'noop',
      reason: 'interrupted',
      id: 'checkout:too many errors',
      digest,
    });
  });

  test('that had created a rule which is no longer wanted deletes it, but not one of another content', () => {
    const model = [makeEntity({ alert_rules: [] })];
    const pending = [{ address: rule, action: 'create', digest } as const];
    expect(lines(planOf(model, actual, { ...withoutRule, pending }))).toEqual([`delete ${rule} (interrupted)`]);
    const other = serviceWith(makeEntity({ alert_rules: [makeRule({ mute: true })] }));
    const made = planOf(model, other, { ...withoutRule, pending });
    expect(lines(made)).toEqual([]);
    expect(made.unmanaged.alert_rules).toBe(1);
  });

  test('that had not come to create a rule creates it', () => {
    const pending = [{ address: rule, action: 'create', digest } as const];
    const made = planOf([checkout], serviceWith(makeEntity({ alert_rules: [] })), { ...withoutRule, pending });
    expect(lines(made)).toEqual([`create ${rule} (interrupted)`]);
    expect(made.drift).toEqual([]);
  });

  test('that had deleted something shows no drift', () => {
    const pending = [{ address: rule, action: 'delete', id: 'checkout:too many errors' } as const];
    const empty = makeEntity({ alert_rules: [] });
    const made = planOf([empty], serviceWith(empty), { ...state, pending });
    expect(lines(made)).toEqual([`forget ${rule} (interrupted)`]);
    expect(made.drift).toEqual([]);
    expect(lines(planOf([checkout], serviceWith(empty), { ...state, pending }))).toEqual([
      `create ${rule} (interrupted)`,
    ]);
  });

  test('that had updated something shows no drift', () => {
    const muted = makeEntity({ alert_rules: [makeRule({ mute: true })] });
    const target = stateAfter(serviceWith(muted)).entities['checkout']!.alert_rules['too many errors']!.digest;
    const pending = [{ address: rule, action: 'update', id: 'checkout:too many errors', digest: target } as const];
    const made = planOf([muted], serviceWith(muted), { ...state, pending });
    expect(hasChanges(made)).toBe(false);
    expect(made.drift).toEqual([]);
    expect(made.changes.find(({ address }) => address === rule)).toMatchObject({ action: 'noop', digest: target });
  });

  test('that had renamed something records the new name, with or without the entry in the model', () => {
    const desired = makeEntity({ alert_rules: rulesNamed('b') });
    const target = stateAfter(serviceWith(desired)).entities['checkout']!.alert_rules['b']!.digest;
    const to = 'checkout/alert_rules/b';
    const pending = [{ address: to, action: 'update', id: 'checkout:too many errors', digest: target } as const];
    for (const moved of [[{ from: rule, to }], []]) {
      const made = planOf([desired], serviceWith(heldEntity(desired, checkout)), { ...state, pending }, moved);
      expect(hasChanges(made)).toBe(false);
      expect(made.drift).toEqual([]);
      expect(made.changes.find(({ address }) => address === to)).toMatchObject({
        action: 'noop',
        previousAddress: rule,
      });
    }
  });
});

describe('dependencies', () => {
  test('children wait for a new alert manager, rules for new indicators', () => {
    const after = new Map(
      planOf([checkout], serviceWith(), null).changes.map((change) => [change.address, change.after]),
    );
    expect(after.get('checkout')).toEqual([]);
    expect(after.get('checkout/indicators/errors')).toEqual(['checkout']);
    expect(after.get('checkout/alert_rules/too many errors')).toEqual(['checkout', 'checkout/indicators/errors']);
    expect(after.get('checkout/notification_channels/oncall/breach')).toEqual(['checkout']);
  });

  test('an indicator is deleted after the rules that leave it or go', () => {
    const before = makeEntity({
      indicators: [makeIndicator(), makeIndicator({ name: 'latency' })],
      alert_rules: [
        makeRule({ name: 'stays' }),
        makeRule({ name: 'goes' }),
        makeRule({ name: 'other', indicator: 'latency' }),
      ],
    });
    const after = makeEntity({
      indicators: [makeIndicator({ name: 'latency' })],
      alert_rules: [
        makeRule({ name: 'stays', indicator: 'latency' }),
        makeRule({ name: 'other', indicator: 'latency' }),
      ],
    });
    const made = planOf([after], serviceWith(before), stateAfter(serviceWith(before)));
    expect(made.changes.find(({ address }) => address === 'checkout/indicators/errors')?.after).toEqual([
      'checkout/alert_rules/stays',
      'checkout/alert_rules/goes',
    ]);
  });

  test('what seems renamed goes only after its successor is there', () => {
    const desired = makeEntity({ external_ref: 'shop' });
    const made = planOf([desired], serviceWith(checkout), stateAfter(serviceWith(checkout)));
    expect(made.renames).toMatchObject([{ kind: 'entity', from: 'checkout', to: 'shop' }]);
    expect(made.changes.find(({ address }) => address === 'checkout')?.after).toEqual([
      'shop',
      'shop/indicators/errors',
      'shop/alert_rules/too many errors',
      'shop/notification_channels/oncall/breach',
    ]);
  });
});

describe('the size of the work', () => {
  test('is one digest for each unchanged object', () => {
    const entities = Array.from({ length: 50 }, (_, index) =>
      makeEntity({ external_ref: `e${index}`, alert_rules: rulesNamed('a', 'b', 'c') }),
    );
    const actual = serviceWith(...entities);
    const state = stateAfter(actual);
    let digests = 0;
    const counting = (text: string) => {
      digests += 1;
      return sha256(text);
    };
    const made = plan({ desired: { entities, moved: [] }, actual, state, sha256: counting });
    expect(hasChanges(made)).toBe(false);
    expect(digests).toBe(50 * 6);
    expect(made.managed).toBe(50 * 6);
  });
});
