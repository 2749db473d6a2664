/** What must hold of planning and applying for any model. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyModel, applyPlan, planFor } from '../../test/apply-plan.ts';
import { successionArbitrary } from '../../test/models.ts';
import { ReferenceService } from '../../test/reference-service.ts';
import type { Actual, Entity, Model, State } from '../index.ts';
import { hasChanges } from './summary.ts';

const RUNS = { numRuns: 60 };

function expectSettled(model: Model, service: ReferenceService, state: State | null): void {
  const again = planFor(model, service, state);
  expect(again.changes.filter(({ action }) => action !== 'noop')).toEqual([]);
  expect(again.drift).toEqual([]);
  expect(hasChanges(again)).toBe(false);
}

/** The service's content without its ids, in one order. */
function content(actual: Actual) {
  const sorted = <Value extends { name: string }>(values: readonly Value[]) =>
    values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return actual.entities
    .map(({ entity }) => ({
      ...entity,
      indicators: sorted(entity.indicators),
      alert_rules: sorted(entity.alert_rules),
      notification_channels: sorted(entity.notification_channels),
    }))
    .toSorted((a, b) => (a.external_ref < b.external_ref ? -1 : 1));
}

function idsOf(actual: Actual): string[] {
  return actual.entities.flatMap((held) => [
    held.id,
    ...Object.values(held.indicatorIds),
    ...Object.values(held.ruleIds),
    ...Object.values(held.bindingIds),
  ]);
}

describe('planning after applying', () => {
  test('is empty, from nothing and from any earlier model, and the service then holds the model', () => {
    fc.assert(
      fc.property(successionArbitrary, fc.boolean(), ({ first, second, channels }, cascadesRenames) => {
        const service = new ReferenceService({ channels, cascadesRenames });
        const state = applyModel(first, service, null);
        expectSettled(first, service, state);
        const later = applyModel(second, service, state);
        expectSettled(second, service, later);

        const fresh = new ReferenceService({ channels, cascadesRenames });
        applyModel(second, fresh, null);
        expect(content(service.actual())).toEqual(content(fresh.actual()));
      }),
      RUNS,
    );
  });

  test('is empty for the same model with its lists and maps in another order', () => {
    fc.assert(
      fc.property(successionArbitrary, ({ first, channels }) => {
        const service = new ReferenceService({ channels });
        const state = applyModel(first, service, null);
        expectSettled({ ...first, entities: first.entities.map(shuffled).toReversed() }, service, state);
      }),
      RUNS,
    );
  });

  test('imports everything when the state was lost, and creates nothing', () => {
    fc.assert(
      fc.property(successionArbitrary, ({ first, channels }) => {
        const service = new ReferenceService({ channels });
        applyModel(first, service, null);
        const ids = idsOf(service.actual());
        const made = planFor(first, service, null);
        expect(made.changes.every(({ action, fields }) => action === 'adopt' && fields.length === 0)).toBe(true);
        expect(made.totals.adopt).toBe(ids.length);
        const { state } = applyPlan(service, made, null);
        expect(idsOf(service.actual())).toEqual(ids);
        expectSettled(first, service, state);
      }),
      RUNS,
    );
  });
});

describe('objects of others', () => {
  test('are never touched: nothing is deleted that is not in the state', () => {
    fc.assert(
      fc.property(successionArbitrary, ({ first, second, channels }) => {
        const service = new ReferenceService({ channels });
        applyModel(first, service, null);
        const foreign = new Map(first.entities.map((entity) => [entity.external_ref, entity]));
        const wanted = new Set(second.entities.map((entity) => entity.external_ref));
        const made = planFor(second, service, null);
        expect(made.totals.delete).toBe(0);
        expect(made.unmanaged.entities).toBe([...foreign.keys()].filter((ref) => !wanted.has(ref)).length);
        applyPlan(service, made, null);
        for (const held of service.actual().entities) {
          const before = foreign.get(held.entity.external_ref);
          const after = second.entities.find(({ external_ref }) => external_ref === held.entity.external_ref);
          const names = new Set(
            [...(before?.alert_rules ?? []), ...(after?.alert_rules ?? [])].map(({ name }) => name),
          );
          expect(new Set(Object.keys(held.ruleIds))).toEqual(names);
        }
      }),
      RUNS,
    );
  });

  test('stay as they are when everything that was applied is deleted', () => {
    fc.assert(
      fc.property(successionArbitrary, ({ first, second, channels }) => {
        const service = new ReferenceService({ channels });
        const isForeign = ({ external_ref }: Entity) =>
          !first.entities.some((one) => one.external_ref === external_ref);
        const foreign = { entities: second.entities.filter(isForeign), moved: [] };
        applyModel(foreign, service, null);
        const before = service.actual();
        const state = applyModel(first, service, null);
        const after = applyModel({ entities: [], moved: [] }, service, state);
        expect(service.actual()).toEqual(before);
        expect(after?.entities ?? {}).toEqual({});
      }),
      RUNS,
    );
  });
});

describe('an apply that dies', () => {
  test('after any request or state write is completed by the next one, with no duplicate and nothing left over', () => {
    fc.assert(
      fc.property(
        successionArbitrary,
        fc.array(fc.nat(60), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 8 }),
        ({ first, second, channels }, deaths, batch) => {
          const undisturbed = new ReferenceService({ channels });
          applyModel(second, undisturbed, applyModel(first, undisturbed, null));

          const service = new ReferenceService({ channels });
          let state = applyModel(first, service, null);
          for (const dieAfter of deaths) {
            state = applyPlan(service, planFor(second, service, state), state, { dieAfter, batch }).state;
          }
          const made = planFor(second, service, state);
          expect(made.totals.adopt).toBe(0);
          expect(made.drift).toEqual([]);
          state = applyPlan(service, made, state, { batch }).state;
          expectSettled(second, service, state);
          expect(content(service.actual())).toEqual(content(undisturbed.actual()));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('while creating leaves nothing behind when the model goes back', () => {
    fc.assert(
      fc.property(
        successionArbitrary,
        fc.nat(40),
        fc.integer({ min: 1, max: 8 }),
        ({ first, channels }, dieAfter, batch) => {
          const service = new ReferenceService({ channels });
          const { state } = applyPlan(service, planFor(first, service, null), null, { dieAfter, batch });
          applyModel({ entities: [], moved: [] }, service, state);
          expect(service.actual().entities).toEqual([]);
        },
      ),
      RUNS,
    );
  });
});

function shuffled(entity: Entity): Entity {
  const reverse = (map: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(map).toReversed());
  const filter = entity.adhoc_filter;
  return {
    ...entity,
    tags: entity.tags.toReversed(),
    labels: reverse(entity.labels),
    links: entity.links.toReversed(),
    adhoc_filter: filter && { ...filter, labels: reverse(filter.labels) },
    indicators: entity.indicators.toReversed().map((one) => ({ ...one, query: `\n${one.query}  ` })),
    alert_rules: entity.alert_rules.toReversed().map((rule) => ({
      ...rule,
      label_filter: reverse(rule.label_filter),
      annotations: reverse(rule.annotations),
    })),
    notification_channels: entity.notification_channels
      .toReversed()
      .map((binding) => ({ ...binding, mention: binding.mention.toReversed() })),
  };
}
