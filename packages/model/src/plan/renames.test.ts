/** What is offered as a rename, what is not, and what accepting does. */
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../test/reference-service.ts';
import { lines, makeEntity, makeIndicator, makeRule, planOf, serviceWith, stateAfter } from '../../test/situations.ts';
import type { Entity } from '../model.ts';
import { plan } from './make-plan.ts';
import { acceptRenames } from './renames.ts';

function planChange(before: readonly Entity[], after: readonly Entity[]) {
  const actual = serviceWith(...before);
  return planOf(after, actual, stateAfter(actual));
}

const pairs = (before: readonly Entity[], after: readonly Entity[]) =>
  planChange(before, after).renames.map(({ from, to }) => `${from} -> ${to}`);

const withRules = (...alert_rules: Entity['alert_rules']) => makeEntity({ alert_rules });

describe('a rename is offered', () => {
  test('for a rule that differs in its name only', () => {
    expect(pairs([withRules(makeRule({ name: 'a' }))], [withRules(makeRule({ name: 'b' }))])).toEqual([
      'checkout/alert_rules/a -> checkout/alert_rules/b',
    ]);
  });

  test('for a rule with the same condition and another text or window', () => {
    const after = withRules(makeRule({ name: 'b', description: 'new text', bad_minutes: 4 }));
    expect(pairs([withRules(makeRule({ name: 'a' }))], [after])).toHaveLength(1);
  });

  test('for an indicator with the same query, and for the rule on it that is renamed as well', () => {
    const before = makeEntity({
      indicators: [makeIndicator({ name: 'i' })],
      alert_rules: [makeRule({ name: 'a', indicator: 'i' })],
    });
    const after = makeEntity({
      indicators: [makeIndicator({ name: 'j', unit: '%' })],
      alert_rules: [makeRule({ name: 'b', indicator: 'j' })],
    });
    expect(pairs([before], [after])).toEqual([
      'checkout/indicators/i -> checkout/indicators/j',
      'checkout/alert_rules/a -> checkout/alert_rules/b',
    ]);
  });

  test('for an alert manager with the same settings, the same contents, or the same name', () => {
    const same = makeEntity({ external_ref: 'shop' });
    const contents = makeEntity({ external_ref: 'shop', name: 'Shop', tags: ['x'] });
    const name = makeEntity({ external_ref: 'shop', tags: ['x'], indicators: [], alert_rules: [] });
    for (const after of [same, contents, name]) expect(pairs([makeEntity()], [after])).toEqual(['checkout -> shop']);
  });

  test('for the pairs that are clear, though others are not', () => {
    const clear = makeRule({ name: 'clear', threshold: { operator: 'less_than', value: 1 } });
    const before = withRules(clear, makeRule({ name: 'a' }), makeRule({ name: 'b' }));
    const after = withRules({ ...clear, name: 'renamed' }, makeRule({ name: 'c' }));
    expect(pairs([before], [after])).toEqual(['checkout/alert_rules/clear -> checkout/alert_rules/renamed']);
  });

  test('with the exact match first, when a similar one competes', () => {
    const before = withRules(makeRule({ name: 'a' }), makeRule({ name: 'b', description: 'x' }));
    const after = withRules(makeRule({ name: 'c', description: 'x' }));
    expect(pairs([before], [after])).toEqual(['checkout/alert_rules/b -> checkout/alert_rules/c']);
  });
});

describe('no rename is offered', () => {
  test('when there are two candidates', () => {
    const before = withRules(makeRule({ name: 'a' }), makeRule({ name: 'b' }));
    expect(pairs([before], [withRules(makeRule({ name: 'c' }))])).toEqual([]);
    expect(pairs([withRules(makeRule({ name: 'c' }))], [before])).toEqual([]);
  });

  test('for rules of different conditions, and for those of another alert manager', () => {
    const other = makeRule({ name: 'b', threshold: { operator: 'greater_than', value: 6 } });
    expect(pairs([withRules(makeRule({ name: 'a' }))], [withRules(other)])).toEqual([]);
    const kafka = makeEntity({ external_ref: 'kafka', alert_rules: [] });
    const moved = { ...kafka, alert_rules: [makeRule({ name: 'b' })] };
    expect(pairs([withRules(makeRule({ name: 'a' })), kafka], [withRules(), moved])).toEqual([]);
  });

  test('for what goes with its alert manager', () => {
    const kafka = makeEntity({ external_ref: 'kafka', name: 'Kafka', indicators: [], alert_rules: [] });
    const made = planChange([makeEntity()], [kafka]);
    expect(made.renames).toEqual([]);
  });
});

describe('accepting', () => {
  test('turns the pairs into moves', () => {
    const before = [makeEntity({ alert_rules: [makeRule({ name: 'a' })] })];
    const after = [
      makeEntity({
        indicators: [makeIndicator({ name: 'i' })],
        alert_rules: [makeRule({ name: 'b', indicator: 'i' })],
      }),
    ];
    const actual = serviceWith(...before);
    const input = { desired: { entities: after, moved: [] }, actual, state: stateAfter(actual), sha256 };
    const accepted = acceptRenames(input, plan(input).renames);
    expect(lines(plan(accepted))).toEqual([
      'move checkout/indicators/errors -> checkout/indicators/i (renamed) name',
      'move checkout/alert_rules/a -> checkout/alert_rules/b (renamed) name indicator',
    ]);
    expect(plan(accepted).renames).toEqual([]);
  });

  test('of an alert manager brings up the renames inside it', () => {
    const before = makeEntity({ alert_rules: [makeRule({ name: 'a' })] });
    const after = makeEntity({ external_ref: 'shop', alert_rules: [makeRule({ name: 'b' })] });
    const actual = serviceWith(before);
    const input = { desired: { entities: [after], moved: [] }, actual, state: stateAfter(actual), sha256 };
    const once = acceptRenames(input, plan(input).renames);
    const inside = plan(once).renames;
    expect(inside.map(({ from, to }) => [from, to])).toEqual([['shop/alert_rules/a', 'shop/alert_rules/b']]);
    expect(plan(acceptRenames(once, inside)).totals).toEqual({ create: 0, update: 0, delete: 0, move: 2, adopt: 0 });
  });
});
