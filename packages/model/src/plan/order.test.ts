/** The waves in which changes are carried out, the guard, and the sentence about a plan. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyModel, planFor } from '../../test/apply-plan.ts';
import { successionArbitrary } from '../../test/models.ts';
import { ReferenceService } from '../../test/reference-service.ts';
import { makeEntity, makeIndicator, makeRule, planOf, serviceWith, stateAfter } from '../../test/situations.ts';
import { massDeletion } from './guard.ts';
import { executionOrder, needsRequest } from './order.ts';
import { hasChanges, summary } from './summary.ts';

describe('executionOrder', () => {
  test('has everything once, dependencies in earlier waves, implied deletions nowhere', () => {
    fc.assert(
      fc.property(successionArbitrary, ({ first, second, channels }) => {
        const service = new ReferenceService({ channels });
        const state = applyModel(first, service, null);
        const made = planFor(second, service, state);
        const waves = executionOrder(made);
        const explicit = made.changes.filter(({ impliedBy }) => impliedBy === undefined);
        expect(new Set(waves.flat())).toEqual(new Set(explicit));
        expect(waves.flat()).toHaveLength(explicit.length);
        expect(waves.length).toBeLessThanOrEqual(6);
        const done = new Set<string>();
        for (const wave of waves) {
          for (const change of wave) for (const address of change.after) expect(done).toContain(address);
          for (const { address } of wave) done.add(address);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('makes before it deletes, and deletes rules before their indicators', () => {
    const before = makeEntity({ notification_channels: [] });
    const after = makeEntity({
      notification_channels: [],
      indicators: [makeIndicator({ name: 'i' })],
      alert_rules: [makeRule({ name: 'r', indicator: 'i', mute: true, threshold: { operator: 'equal_to', value: 1 } })],
    });
    const gone = makeEntity({
      external_ref: 'gone',
      name: 'Gone',
      tags: ['x'],
      notification_channels: [],
      indicators: [],
      alert_rules: [],
    });
    const actual = serviceWith(before, gone);
    const waves = executionOrder(planOf([after], actual, stateAfter(actual)));
    expect(waves.map((wave) => wave.filter(needsRequest).map(({ action, address }) => `${action} ${address}`))).toEqual(
      [
        [],
        ['create checkout/indicators/i'],
        ['create checkout/alert_rules/r'],
        ['delete checkout/alert_rules/too many errors'],
        ['delete checkout/indicators/errors'],
        ['delete gone'],
      ],
    );
  });
});

describe('needsRequest', () => {
  test('is false for what is only recorded', () => {
    const held = makeEntity({ alert_rules: [makeRule({ mute: true })] });
    const adopting = planOf([makeEntity()], serviceWith(held), null).changes;
    expect(adopting.map((change) => [change.kind, needsRequest(change)])).toEqual([
      ['entity', false],
      ['indicator', false],
      ['alert_rule', true],
      ['channel', false],
    ]);
    const gone = planOf([], serviceWith(), stateAfter(serviceWith(held)));
    expect(gone.changes.map((change) => [change.action, needsRequest(change)])).toEqual([['forget', false]]);
  });
});

describe('massDeletion', () => {
  const many = Array.from({ length: 12 }, (_, index) => makeRule({ name: `r${index}` }));
  const held = makeEntity({ alert_rules: many, notification_channels: [] });
  const guardOf = (left: number) => {
    const actual = serviceWith(held);
    const desired = { entities: [{ ...held, alert_rules: many.slice(0, left) }], moved: [] };
    return massDeletion(planOf(desired.entities, actual, stateAfter(actual)), desired);
  };

  test('holds up plans that delete more than half of what is managed', () => {
    // 14 objects are managed: the alert manager, its indicator and 12 rules.
    expect(guardOf(5)).toBeNull();
    expect(guardOf(4)).toMatchObject({ code: 'plan/mass-deletion', severity: 'error' });
    expect(guardOf(4)?.detail).toContain('8 of the 14 objects');
    expect(guardOf(4)?.detail).toContain('--allow-mass-delete');
  });

  test('lets through up to 5 deletions, unless the model is empty', () => {
    const small = makeEntity({
      alert_rules: many.slice(0, 5),
      indicators: [makeIndicator()],
      notification_channels: [],
    });
    const actual = serviceWith(small);
    const fewer = [{ ...small, alert_rules: [] }];
    const made = planOf(fewer, actual, stateAfter(actual));
    expect(made.totals.delete).toBe(5);
    expect(massDeletion(made, { entities: fewer })).toBeNull();
    const tiny = makeEntity({ alert_rules: [], indicators: [], notification_channels: [] });
    const emptied = planOf([], serviceWith(tiny), stateAfter(serviceWith(tiny)));
    expect(massDeletion(emptied, { entities: [] })?.detail).toContain('1 object.');
    expect(massDeletion(emptied)).not.toBeNull();
  });

  test('is silent where nothing is deleted', () => {
    expect(massDeletion(planOf([], serviceWith(held), null), { entities: [] })).toBeNull();
    expect(massDeletion(planOf([], serviceWith(), stateAfter(serviceWith(held))), { entities: [] })).toBeNull();
  });
});

describe('summary', () => {
  const none = { create: 0, update: 0, delete: 0, move: 0, adopt: 0 };

  test.each([
    [{ ...none, create: 3, update: 1 }, 'Plan: 3 to add, 1 to change, 0 to destroy.'],
    [{ ...none, delete: 2, move: 1 }, 'Plan: 1 to move, 0 to add, 0 to change, 2 to destroy.'],
    [{ ...none, adopt: 4, update: 2 }, 'Plan: 4 to import, 0 to add, 2 to change, 0 to destroy.'],
    [none, 'No changes.'],
  ])('%j', (totals, sentence) => {
    expect(summary({ totals })).toBe(sentence);
    expect(hasChanges({ totals })).toBe(sentence !== 'No changes.');
  });
});
