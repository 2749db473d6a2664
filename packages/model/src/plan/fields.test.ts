/** Every field of every kind is compared: changing one gives one change with its path. */
import { describe, expect, test } from 'vitest';
import {
  lines,
  makeBinding,
  makeEntity,
  makeIndicator,
  makeRule,
  planOf,
  serviceWith,
  stateAfter,
} from '../../test/situations.ts';
import type { AlertRule, ChannelBinding, Entity, Indicator } from '../model.ts';
import { ALERT_RULE_FIELDS, CHANNEL_FIELDS, createComparison, ENTITY_FIELDS, INDICATOR_FIELDS } from './canonical.ts';
import { compareEntities, shownFields } from './fields.ts';
import type { Change, FieldChange } from './plan.ts';

/** A value before and after, and the paths that must be reported with what stood there and what shall. */
type Case<Value> = readonly [before: Partial<Value>, after: Partial<Value>, paths: readonly FieldChange[]];

const ENTITY = {
  name: [[{ name: 'A' }, { name: 'B' }, [{ path: 'name', before: 'A', after: 'B' }]]],
  type: [[{ type: 'a' }, { type: 'b' }, [{ path: 'type', before: 'a', after: 'b' }]]],
  external_ref: [],
  description: [
    [{ description: '' }, { description: 'x' }, [{ path: 'description', after: 'x' }]],
    [{ description: 'x' }, { description: '' }, [{ path: 'description', before: 'x' }]],
  ],
  data_source: [
    [{ data_source: 'a' }, { data_source: 'b' }, [{ path: 'data_source', before: 'a', after: 'b' }]],
    [{ data_source: 'a' }, { data_source: '' }, [{ path: 'data_source', before: 'a' }]],
    [
      { data_source: 'a', data_source_id: '1' },
      { data_source: 'b', data_source_id: '1' },
      [{ path: 'data_source', before: 'a', after: 'b' }],
    ],
  ],
  data_source_id: [
    [{ data_source_id: '1' }, { data_source_id: '2' }, [{ path: 'data_source_id', before: '1', after: '2' }]],
    [{ data_source_id: '1' }, { data_source_id: '' }, [{ path: 'data_source_id', before: '1' }]],
    [
      { data_source: 'a', data_source_id: '1' },
      { data_source: 'a', data_source_id: '2' },
      [{ path: 'data_source_id', before: '1', after: '2' }],
    ],
  ],
  entity_class: [
    [
      { entity_class: 'alert-manager' },
      { entity_class: 'other' },
      [{ path: 'entity_class', before: 'alert-manager', after: 'other' }],
    ],
  ],
  namespace: [[{}, { namespace: 'n' }, [{ path: 'namespace', after: 'n' }]]],
  workspace: [[{}, { workspace: 'w' }, [{ path: 'workspace', after: 'w' }]]],
  tier: [[{}, { tier: '1' }, [{ path: 'tier', after: '1' }]]],
  team: [[{}, { team: 'sre' }, [{ path: 'team', before: 'default', after: 'sre' }]]],
  ui_readonly: [[{}, { ui_readonly: true }, [{ path: 'ui_readonly', before: false, after: true }]]],
  tags: [
    [{ tags: ['a'] }, { tags: ['b', 'a'] }, [{ path: 'tags', before: ['a'], after: ['b', 'a'] }]],
    [{ tags: ['a'] }, { tags: [] }, [{ path: 'tags', before: ['a'] }]],
  ],
  labels: [
    [
      { labels: { a: '1', gone: 'x', same: 's' } },
      { labels: { a: '2', same: 's', 'two words': '' } },
      [
        { path: 'labels.a', before: '1', after: '2' },
        { path: 'labels.gone', before: 'x' },
        { path: 'labels."two words"', after: '' },
      ],
    ],
  ],
  links: [
    [
      { links: [{ name: 'a', url: 'https://a' }] },
      { links: [{ name: 'a', url: 'https://b' }] },
      [{ path: 'links', before: [{ name: 'a', url: 'https://a' }], after: [{ name: 'a', url: 'https://b' }] }],
    ],
  ],
  adhoc_filter: [
    [
      {},
      { adhoc_filter: { data_source: 'prod', labels: { cluster: 'c' } } },
      [
        { path: 'adhoc_filter.data_source', after: 'prod' },
        { path: 'adhoc_filter.labels.cluster', after: 'c' },
      ],
    ],
    [
      { adhoc_filter: { data_source: 'prod', labels: { cluster: 'c' } } },
      { adhoc_filter: { data_source: 'prod', labels: { cluster: 'd' } } },
      [{ path: 'adhoc_filter.labels.cluster', before: 'c', after: 'd' }],
    ],
    [
      { adhoc_filter: { data_source: 'prod', labels: { cluster: 'c' } } },
      { adhoc_filter: { data_source: 'dev', labels: { cluster: 'c' } } },
      [{ path: 'adhoc_filter.data_source', before: 'prod', after: 'dev' }],
    ],
  ],
} satisfies Record<keyof typeof ENTITY_FIELDS, readonly Case<Entity>[]>;

const INDICATOR = {
  name: [],
  query: [[{ query: 'up' }, { query: 'down' }, [{ path: 'query', before: 'up', after: 'down' }]]],
  unit: [[{}, { unit: 'ms' }, [{ path: 'unit', before: 'count', after: 'ms' }]]],
  description: [[{}, { description: 'd' }, [{ path: 'description', after: 'd' }]]],
  data_source: [[{}, { data_source: 'prod' }, [{ path: 'data_source', after: 'prod' }]]],
} satisfies Record<Exclude<keyof Indicator, 'source'>, readonly Case<Indicator>[]>;

const RULE = {
  name: [],
  indicator: [[{}, { indicator: 'latency' }, [{ path: 'indicator', before: 'errors', after: 'latency' }]]],
  pattern: [
    [
      {},
      { pattern: { macro: 'high_spike', tolerance: 2.5, indicator: 'errors' } },
      [{ path: 'expression', after: 'high_spike(2.5, errors)' }],
    ],
    [
      { pattern: { macro: 'high_spike', tolerance: 2, indicator: 'errors' } },
      { pattern: { macro: 'low_spike', tolerance: 2, indicator: 'errors' } },
      [{ path: 'expression', before: 'high_spike(2, errors)', after: 'low_spike(2, errors)' }],
    ],
    [
      { pattern: { macro: 'high_spike', tolerance: 2, indicator: 'errors' } },
      { pattern: { macro: 'high_spike', tolerance: 2, indicator: 'latency' } },
      [{ path: 'expression', before: 'high_spike(2, errors)', after: 'high_spike(2, latency)' }],
    ],
  ],
  threshold: [
    [{}, { threshold: { operator: 'greater_than', value: 6.5 } }, [{ path: 'greater_than', before: 5, after: 6.5 }]],
    [
      {},
      { threshold: { operator: 'less_than', value: 5 } },
      [
        { path: 'greater_than', before: 5 },
        { path: 'less_than', after: 5 },
      ],
    ],
  ],
  bad_minutes: [[{}, { bad_minutes: 4 }, [{ path: 'bad_minutes', before: 3, after: 4 }]]],
  total_minutes: [[{}, { total_minutes: 6 }, [{ path: 'total_minutes', before: 5, after: 6 }]]],
  severity: [[{}, { severity: 'threat' }, [{ path: 'severity', before: 'breach', after: 'threat' }]]],
  description: [[{}, { description: 'd' }, [{ path: 'description', after: 'd' }]]],
  group_timeseries_notifications: [
    [
      {},
      { group_timeseries_notifications: false },
      [{ path: 'group_timeseries_notifications', before: true, after: false }],
    ],
  ],
  is_disabled: [[{}, { is_disabled: true }, [{ path: 'is_disabled', before: false, after: true }]]],
  mute: [[{}, { mute: true }, [{ path: 'mute', before: false, after: true }]]],
  label_filter: [
    [
      { label_filter: { service: 'a' } },
      { label_filter: { service: 'a|b' } },
      [{ path: 'label_filter.service', before: 'a', after: 'a|b' }],
    ],
  ],
  annotations: [
    [{}, { annotations: { 'Check APM': 'x' } }, [{ path: 'annotations."Check APM"', after: 'x' }]],
    [
      { annotations: { ['__proto__']: 'a' } },
      { annotations: { ['__proto__']: 'b' } },
      [{ path: 'annotations.__proto__', before: 'a', after: 'b' }],
    ],
  ],
  runbook: [
    [
      { runbook: 'https://a' },
      { runbook: 'https://b' },
      [{ path: 'runbook.link', before: 'https://a', after: 'https://b' }],
    ],
  ],
} satisfies Record<Exclude<keyof AlertRule, 'source'>, readonly Case<AlertRule>[]>;

const BINDING = {
  name: [],
  severity: [],
  type: [[{}, { type: 'pagerduty' }, [{ path: 'type', before: 'slack', after: 'pagerduty' }]]],
  mention: [[{}, { mention: ['@sre'] }, [{ path: 'mention', after: ['@sre'] }]]],
} satisfies Record<Exclude<keyof ChannelBinding, 'source'>, readonly Case<ChannelBinding>[]>;

const INDICATORS = [makeIndicator(), makeIndicator({ name: 'latency' })];

interface Kind<Value> {
  readonly kind: Change['kind'];
  readonly cases: Readonly<Record<string, readonly Case<Value>[]>>;
  readonly wrap: (fields: Partial<Value>) => Entity;
}

/** All cases of a kind, each as an entity before and after. */
function tableOf<Value>({ kind, cases, wrap }: Kind<Value>) {
  return Object.entries(cases).flatMap(([field, rows]) =>
    rows.map(([before, after, fields]) => ({
      name: `${kind} ${field}: ${fields.map(({ path }) => path)}`,
      kind,
      fields,
      before: wrap(before),
      after: wrap({ ...before, ...after }),
    })),
  );
}

const TABLE = [
  ...tableOf<Entity>({ kind: 'entity', cases: ENTITY, wrap: makeEntity }),
  ...tableOf<Indicator>({
    kind: 'indicator',
    cases: INDICATOR,
    wrap: (fields) => makeEntity({ indicators: [makeIndicator(fields)] }),
  }),
  ...tableOf<AlertRule>({
    kind: 'alert_rule',
    cases: RULE,
    wrap: (fields) => makeEntity({ indicators: INDICATORS, alert_rules: [makeRule(fields)] }),
  }),
  ...tableOf<ChannelBinding>({
    kind: 'channel',
    cases: BINDING,
    wrap: (fields) => makeEntity({ notification_channels: [makeBinding(fields)] }),
  }),
];

describe('changing one field', () => {
  test.each(TABLE)('$name', ({ kind, fields, before, after }) => {
    const actual = serviceWith(before);
    const made = planOf([after], actual, stateAfter(actual));
    const changed = made.changes.filter(({ action }) => action !== 'noop');
    expect(changed.map((change) => [change.kind, change.action, change.reason])).toEqual([[kind, 'update', 'model']]);
    expect(changed[0]?.fields).toEqual(fields);
    expect(made.totals).toEqual({ create: 0, update: 1, delete: 0, move: 0, adopt: 0 });
    expect(made.drift).toEqual([]);
  });

  test.each(TABLE)('in the service is drift, and is taken back: $name', ({ kind, fields, before, after }) => {
    const held = serviceWith(after);
    const state = { ...stateAfter(serviceWith(before)) };
    const made = planOf([before], held, state);
    const changed = made.changes.filter(({ action }) => action !== 'noop');
    expect(changed.map((change) => [change.kind, change.action])).toEqual([[kind, 'update']]);
    expect(changed[0]?.fields.map(({ path }) => path).toSorted()).toEqual(fields.map(({ path }) => path).toSorted());
  });

  test('has a case or is part of the identity, for each field that is compared', () => {
    const identity = {
      entity: ['external_ref'],
      indicator: ['name'],
      alert_rule: ['name'],
      channel: ['name', 'severity'],
    };
    const withoutCase = (cases: Readonly<Record<string, readonly unknown[]>>) =>
      Object.keys(cases).filter((field) => cases[field]?.length === 0);
    expect(withoutCase(ENTITY)).toEqual(identity.entity);
    expect(withoutCase(INDICATOR)).toEqual(identity.indicator);
    expect(withoutCase(RULE)).toEqual(identity.alert_rule);
    expect(withoutCase(BINDING)).toEqual(identity.channel);
    expect(
      [INDICATOR_FIELDS, ALERT_RULE_FIELDS, CHANNEL_FIELDS, ENTITY_FIELDS].map((table) => Object.keys(table).length),
    ).toEqual([5, 14, 4, 16]);
  });
});

describe('what means the same', () => {
  const SAME: readonly [string, Partial<Entity>, Partial<Entity>][] = [
    ['order of tags', { tags: ['a', 'b'] }, { tags: ['b', 'a'] }],
    ['repeated tags', { tags: ['a', 'b'] }, { tags: ['b', 'a', 'b'] }],
    ['order of labels', { labels: { a: '1', b: '2' } }, { labels: { b: '2', a: '1' } }],
    ['absent class', { entity_class: 'alert-manager' }, { entity_class: '' }],
    ['absent team', { team: 'default' }, { team: '' }],
    ['filter without labels', { adhoc_filter: { data_source: 'prod', labels: {} } }, {}],
    [
      'filter on the data source of the entity',
      { data_source: 'prod', adhoc_filter: { data_source: '', labels: { a: 'b' } } },
      { data_source: 'prod', adhoc_filter: { data_source: 'prod', labels: { a: 'b' } } },
    ],
    [
      'data source by name, answered with both',
      { data_source: 'prod' },
      { data_source: 'prod', data_source_id: 'ds-1' },
    ],
    [
      'data source by id, answered with both',
      { data_source_id: 'ds-1' },
      { data_source: 'prod', data_source_id: 'ds-1' },
    ],
    ['data source by name, answered by id', { data_source: 'prod' }, { data_source_id: 'ds-1' }],
    ['data source by id, answered by name', { data_source_id: 'ds-1' }, { data_source: 'prod' }],
    [
      'layout of a query',
      { indicators: [makeIndicator({ query: 'up' })] },
      { indicators: [makeIndicator({ query: '  up\n' })] },
    ],
    ['absent unit', { indicators: [makeIndicator({ unit: '' })] }, { indicators: [makeIndicator({ unit: 'count' })] }],
    [
      'minus zero',
      { alert_rules: [makeRule({ threshold: { operator: 'less_than', value: -0 } })] },
      { alert_rules: [makeRule({ threshold: { operator: 'less_than', value: 0 } })] },
    ],
    [
      'order of mentions',
      { notification_channels: [makeBinding({ mention: ['a', 'b'] })] },
      { notification_channels: [makeBinding({ mention: ['b', 'a'] })] },
    ],
    [
      'type of a channel that the model leaves out',
      { notification_channels: [makeBinding({ type: null })] },
      { notification_channels: [makeBinding({ type: 'slack' })] },
    ],
  ];

  test.each(SAME)('%s', (_, desired, held) => {
    const actual = serviceWith(makeEntity(held));
    // The state of an apply from the model as it is spelled there.
    const state = stateAfter({ ...actual, entities: serviceWith(makeEntity(desired)).entities });
    const made = planOf([makeEntity(desired)], actual, state);
    expect(lines(made)).toEqual([]);
    expect(made.drift).toEqual([]);
  });

  test('the order of a list of words that is shown is the one that was written', () => {
    const fields = compareEntities(
      makeEntity({ tags: ['b', 'a', 'c'] }),
      makeEntity({ tags: ['z', 'a'] }),
      createComparison([]),
    );
    expect(fields).toEqual([{ path: 'tags', before: ['z', 'a'], after: ['b', 'a', 'c'] }]);
  });
});

describe('shownFields', () => {
  test('lists what a new object has, without what is absent', () => {
    const made = planOf([makeEntity({ tags: ['a'], notification_channels: [] })], serviceWith(), null);
    const shown = made.changes.map((change) => [
      change.address,
      shownFields(change).map(({ path, after }) => `${path}=${after}`),
    ]);
    expect(shown).toEqual([
      [
        'checkout',
        [
          'name=Checkout',
          'type=service',
          'external_ref=checkout',
          'entity_class=alert-manager',
          'team=default',
          'ui_readonly=false',
          'tags=a',
        ],
      ],
      ['checkout/indicators/errors', ['name=errors', 'query=sum(rate(errors_total[5m]))', 'unit=count']],
      [
        'checkout/alert_rules/too many errors',
        [
          'name=too many errors',
          'indicator=errors',
          'greater_than=5',
          'bad_minutes=3',
          'total_minutes=5',
          'severity=breach',
          'group_timeseries_notifications=true',
          'is_disabled=false',
          'mute=false',
        ],
      ],
    ]);
  });

  test('lists what a deleted object had', () => {
    const actual = serviceWith(makeEntity());
    const made = planOf([makeEntity({ alert_rules: [] })], actual, stateAfter(actual));
    const shown = made.changes.filter(({ action }) => action === 'delete').flatMap(shownFields);
    expect(shown[0]).toEqual({ path: 'name', before: 'too many errors' });
    expect(shown.every((field) => !('after' in field))).toBe(true);
  });
});
