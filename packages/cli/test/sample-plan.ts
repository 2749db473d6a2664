/** A plan with every kind of change in it, for the views. */
import type { AlertRule, Change, Entity, Indicator, Plan } from '@obsiac/model';

const at = (line: number, file = 'models/shop.yaml') => ({ file, line, column: 5, endLine: line, endColumn: 9 });

const entity: Entity = {
  name: 'Checkout API',
  type: 'service',
  external_ref: 'checkout',
  description: '',
  data_source: 'prod',
  data_source_id: '',
  entity_class: 'alert-manager',
  namespace: '',
  workspace: '',
  tier: '',
  team: 'payments',
  ui_readonly: false,
  tags: ['http'],
  labels: { region: 'eu' },
  links: [],
  adhoc_filter: null,
  indicators: [],
  alert_rules: [],
  notification_channels: [],
};

const indicator: Indicator = {
  name: 'Errors',
  query: 'sum(rate(http_requests_total{code=~"5.."}[5m]))',
  unit: 'rps',
  description: '',
  data_source: '',
};

const rule: AlertRule = {
  name: 'Many errors',
  indicator: 'Errors',
  threshold: { operator: 'greater_than', value: 5 },
  bad_minutes: 3,
  total_minutes: 10,
  severity: 'breach',
  description: '{{ $value }} errors a second',
  group_timeseries_notifications: true,
  is_disabled: false,
  mute: false,
  label_filter: {},
  annotations: { 'Check logs': 'https://logs.example.com' },
  runbook: '',
};

const shared = { after: [], reason: 'model', fields: [] } as const;

const QUERY_BEFORE = 'sum by (route) (\n  rate(http_requests_total{job="checkout"}[5m])\n)\n/ 60\n* 1\n* 1\n* 1\n';
const QUERY_AFTER = 'sum by (route, code) (\n  rate(http_requests_total{job="checkout"}[5m])\n)\n/ 60\n* 1\n* 1\n* 1\n';

const changes: readonly Change[] = [
  { ...shared, kind: 'entity', action: 'create', address: 'checkout', reason: 'new', desired: entity, source: at(3) },
  {
    ...shared,
    kind: 'indicator',
    action: 'create',
    address: 'checkout/indicators/Errors',
    reason: 'new',
    desired: indicator,
    source: at(10),
  },
  {
    ...shared,
    kind: 'alert_rule',
    action: 'create',
    address: 'checkout/alert_rules/Many errors',
    reason: 'new',
    desired: rule,
    source: at(20),
  },
  {
    ...shared,
    kind: 'channel',
    action: 'create',
    address: 'checkout/notification_channels/pager/breach',
    reason: 'new',
    desired: { name: 'pager', type: 'slack', severity: 'breach', mention: ['@oncall'] },
    source: at(30),
  },
  { ...shared, kind: 'entity', action: 'noop', address: 'orders', id: 'e-2', source: at(3, 'models/orders.yaml') },
  {
    ...shared,
    kind: 'indicator',
    action: 'update',
    address: 'orders/indicators/Traffic by route',
    id: 'i-1',
    fields: [
      { path: 'query', before: QUERY_BEFORE, after: QUERY_AFTER, source: at(12, 'models/orders.yaml') },
      { path: 'unit', before: 'rpm', after: 'rps' },
    ],
    source: at(11, 'models/orders.yaml'),
  },
  {
    ...shared,
    kind: 'alert_rule',
    action: 'update',
    address: 'orders/alert_rules/Slow',
    reason: 'drift',
    id: 'r-1',
    fields: [
      { path: 'bad_minutes', before: 5, after: 8, source: at(33, 'models/orders.yaml') },
      { path: 'runbook.link', after: 'https://runbooks.example.com/slow' },
      { path: 'annotations.owner', before: 'team-a' },
      {
        path: 'description',
        before: 'The service answers more slowly than what was agreed with its users for this quarter.',
        after: 'The service answers more slowly than what was agreed with its users for this year.',
      },
    ],
    source: at(31, 'models/orders.yaml'),
  },
  {
    ...shared,
    kind: 'alert_rule',
    action: 'move',
    address: 'orders/alert_rules/Too slow',
    previousAddress: 'orders/alert_rules/Slowish',
    reason: 'renamed',
    id: 'r-2',
    fields: [{ path: 'name', before: 'Slowish', after: 'Too slow' }],
    source: at(40, 'models/orders.yaml'),
  },
  {
    ...shared,
    kind: 'entity',
    action: 'adopt',
    address: 'stock',
    reason: 'adopted',
    id: 'e-3',
    source: at(3, 'models/stock.yaml'),
  },
  {
    ...shared,
    kind: 'alert_rule',
    action: 'adopt',
    address: 'stock/alert_rules/Empty shelves',
    reason: 'adopted',
    id: 'r-3',
    fields: [{ path: 'severity', before: 'threat', after: 'breach' }],
    source: at(9, 'models/stock.yaml'),
  },
  {
    ...shared,
    kind: 'alert_rule',
    action: 'delete',
    address: 'orders/alert_rules/Old',
    reason: 'removed',
    id: 'r-9',
    actual: rule,
  },
  { ...shared, kind: 'entity', action: 'delete', address: 'returns', reason: 'removed', id: 'e-9', actual: entity },
  {
    ...shared,
    kind: 'indicator',
    action: 'delete',
    address: 'returns/indicators/A',
    reason: 'removed',
    id: 'i-9',
    actual: indicator,
    impliedBy: 'returns',
  },
  {
    ...shared,
    kind: 'alert_rule',
    action: 'delete',
    address: 'returns/alert_rules/B',
    reason: 'removed',
    id: 'r-8',
    actual: rule,
    impliedBy: 'returns',
  },
  { ...shared, kind: 'alert_rule', action: 'forget', address: 'orders/alert_rules/Gone', reason: 'removed' },
];

export const SAMPLE_PLAN: Plan = {
  changes,
  drift: [
    { address: 'orders/alert_rules/Slow', kind: 'alert_rule', what: 'changed', source: at(31, 'models/orders.yaml') },
    { address: 'orders/alert_rules/Gone', kind: 'alert_rule', what: 'deleted' },
  ],
  renames: [{ kind: 'alert_rule', from: 'orders/alert_rules/Old', to: 'orders/alert_rules/New name' }],
  totals: { create: 4, update: 3, delete: 4, move: 1, adopt: 2 },
  unmanaged: { entities: 3, indicators: 1, alert_rules: 2, channels: 0 },
  managed: 12,
  diagnostics: [],
};

export const EMPTY_PLAN: Plan = {
  changes: [],
  drift: [],
  renames: [],
  totals: { create: 0, update: 0, delete: 0, move: 0, adopt: 0 },
  unmanaged: { entities: 0, indicators: 0, alert_rules: 0, channels: 0 },
  managed: 0,
  diagnostics: [],
};

/** A plan with this many alert managers, each created, and as many deleted. */
export function largePlan(count: number): Plan {
  const created = Array.from({ length: count }, (_, index): Change => {
    const ref = `service-${index}`;
    return {
      ...shared,
      kind: 'entity',
      action: 'create',
      address: ref,
      reason: 'new',
      desired: { ...entity, external_ref: ref },
    };
  });
  const deleted = Array.from({ length: count }, (_, index): Change => {
    const address = `old-${index}/alert_rules/${'long name '.repeat(3)}${index}`;
    return {
      ...shared,
      kind: 'alert_rule',
      action: 'delete',
      address,
      reason: 'removed',
      id: `r-${index}`,
      actual: rule,
    };
  });
  return {
    ...SAMPLE_PLAN,
    changes: [...created, ...deleted],
    totals: { create: count, update: 0, delete: count, move: 0, adopt: 0 },
  };
}
