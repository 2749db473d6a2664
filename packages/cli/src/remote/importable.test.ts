import { type ActualEntity, type ChannelBinding, type Entity, parseModel, writeModel } from '@obsiac/model';
import { describe, expect, it } from 'vitest';
import { importable } from './importable.ts';

const ENTITY: Entity = parseModel([
  { file: 'm.yaml', text: 'entities:\n  - {name: Checkout, type: service, external_ref: checkout}\n' },
]).model!.entities[0]!;

const held = (change: Partial<Entity>): ActualEntity => ({
  id: '1',
  entity: { ...ENTITY, ...change },
  indicatorIds: {},
  ruleIds: {},
  bindingIds: {},
});

const binding = (change: Partial<ChannelBinding>): ChannelBinding => ({
  name: 'hook',
  type: null,
  severity: 'breach',
  mention: [],
  ...change,
});

const channels = (...bindings: ChannelBinding[]) => importable([held({ notification_channels: bindings })]);

describe('importable', () => {
  it('takes an entity without a class, and leaves those of another class out', () => {
    const { entities, leftOut } = importable([
      held({ entity_class: '' }),
      held({ external_ref: 'board', entity_class: 'grafana-alerts' }),
    ]);
    expect(entities.map(({ external_ref, entity_class }) => [external_ref, entity_class])).toEqual([
      ['checkout', 'alert-manager'],
    ]);
    expect(leftOut).toEqual(['board (entity_class grafana-alerts)']);
  });

  it('writes a channel of an unnamed type for both severities as its name, in whatever order they come', () => {
    const { entities, leftOut } = channels(
      binding({ severity: 'threat' }),
      binding({ name: 'ops', type: 'slack' }),
      binding({ severity: 'breach' }),
    );
    expect(leftOut).toEqual([]);
    expect(writeModel(entities)).toContain('    notification_channels:\n      - hook\n      - name: ops\n');
  });

  it.each([
    ['for one severity', [binding({})], 'checkout: notification channel hook/breach (one severity alone, '],
    ['with mentions', [binding({ mention: ['@a'] })], 'checkout: notification channel hook/breach (mentions, '],
    ['without a severity', [binding({ severity: '' as 'breach' })], 'checkout: notification channel hook/ (without a '],
    [
      'that is the second of its name',
      [binding({ type: 'slack' }), binding({ type: 'pagerduty' })],
      'checkout: notification channel hook/breach (a second of this name)',
    ],
  ])('leaves a channel out %s', (_, bindings, text) => {
    const { entities, leftOut } = channels(...bindings);
    expect(leftOut).toEqual([expect.stringContaining(text)]);
    expect(entities[0]!.notification_channels).toEqual(bindings.slice(0, -1));
    expect(parseModel([{ file: 'm.yaml', text: writeModel(entities) }]).diagnostics).toEqual([]);
  });
});
