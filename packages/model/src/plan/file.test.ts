/** Saved plans: what is kept, and what is refused. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyModel, applyPlan, planFor } from '../../test/apply-plan.ts';
import { successionArbitrary } from '../../test/models.ts';
import { ReferenceService, sha256 } from '../../test/reference-service.ts';
import { makeEntity, makeRule, planOf, serviceWith, stateAfter } from '../../test/situations.ts';
import type { Entity } from '../model.ts';
import { planFromJson, planToJson } from './file.ts';
import { massDeletion } from './guard.ts';
import type { PlanBase } from './plan.ts';

const base: PlanBase = {
  revision: 41,
  serial: 7,
  lineage: '00000000-0000-4000-8000-000000000000',
  org: 'acme',
  api_base_url: 'https://obsiac.example.com/api/v4',
  tool_version: '1.0.0',
  created: '2026-01-01T00:00:00Z',
};

describe('a saved plan', () => {
  test('reads back as it was, but for the values of what does not change and the contents of alert managers', () => {
    fc.assert(
      fc.property(successionArbitrary, ({ first, second, channels }) => {
        const service = new ReferenceService({ channels });
        const plan = planFor(second, service, applyModel(first, service, null));
        const read = planFromJson(planToJson({ plan, base }, sha256), sha256);
        expect(read.base).toEqual(base);
        const own = (entity: Entity | undefined) =>
          entity && { ...entity, indicators: [], alert_rules: [], notification_channels: [] };
        const changes = plan.changes.map((change) => {
          if (change.action === 'noop') return { ...change, desired: undefined, actual: undefined };
          if (change.kind !== 'entity') return change;
          return { ...change, desired: own(change.desired), actual: own(change.actual) };
        });
        expect(read.plan).toEqual({ ...plan, changes });
      }),
      { numRuns: 60 },
    );
  });

  test('does when applied what the plan it was made from does', () => {
    fc.assert(
      fc.property(successionArbitrary, ({ first, second, channels }) => {
        const [direct, saved] = [new ReferenceService({ channels }), new ReferenceService({ channels })];
        const state = applyModel(first, direct, null);
        applyModel(first, saved, null);
        const plan = planFor(second, direct, state);
        const read = planFromJson(planToJson({ plan, base }, sha256), sha256);
        expect(applyPlan(saved, read.plan!, state)).toEqual(applyPlan(direct, plan, state));
        expect(saved.log).toEqual(direct.log);
        expect(massDeletion(read.plan!)).toEqual(massDeletion(plan, second));
      }),
      { numRuns: 60 },
    );
  });

  const actual = serviceWith(makeEntity());
  const plan = planOf(
    [makeEntity({ alert_rules: [makeRule({ mute: true, description: 'two\r\nlines' })] })],
    actual,
    stateAfter(actual),
  );
  const text = planToJson({ plan, base }, sha256);

  test('survives other line ends', () => {
    const read = planFromJson(text.replaceAll('\n', '\r\n'), sha256);
    expect(read.plan?.changes.find(({ kind }) => kind === 'alert_rule')?.desired).toMatchObject({
      description: 'two\r\nlines',
    });
  });

  test.each([
    ['empty', '', 'not-json'],
    ['cut off', text.slice(0, text.length / 2), 'not-json'],
    ['another file', '{"entities": []}', 'not-a-plan'],
    ['null', 'null', 'not-a-plan'],
    ['of a later version', text.replace('"version": 1', '"version": 2'), 'newer-version'],
    ['edited', text.replace('"mute":true', '"mute":false'), 'checksum'],
    ['without checksum', text.replace(/,\n"checksum".*\n/, ''), 'checksum'],
  ])('that is %s is refused', (_, damaged, code) => {
    expect(damaged).not.toBe(text);
    const { error } = planFromJson(damaged, sha256);
    expect(error?.code).toBe(code);
    expect(error?.message).toMatch(/\.$/);
  });
});
