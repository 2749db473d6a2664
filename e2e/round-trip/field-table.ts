/** One change for every field of the model, and exactly what a plan must show for it. */
import {
  ENTITY,
  type EntityData,
  type IndicatorData,
  type ModelData,
  PATTERN_RULE,
  type RuleData,
  STATIC_RULE,
} from './base-model.ts';

/** A planned change, as the JSON events show it. */
interface Expected {
  readonly addr: string;
  readonly action: string;
  /** Paths of the fields; undefined: not looked at, for what is created or deleted. */
  readonly paths?: readonly string[];
}

export interface FieldCase {
  /** As in the documentation of the model: `entity.name`, `rule.severity`. */
  readonly field: string;
  /** When a field has several cases. */
  readonly note?: string;
  readonly change: (model: ModelData) => void;
  readonly expected: readonly Expected[];
  readonly flags?: readonly string[];
}

const entityOf = (model: ModelData): EntityData => model.entities[0] as EntityData;
const ruleOf = (model: ModelData, name: string): RuleData =>
  entityOf(model).alert_rules.find((rule) => rule.name === name) as RuleData;
const indicatorOf = (model: ModelData, index: number): IndicatorData =>
  entityOf(model).indicators[index] as IndicatorData;

const ruleAddress = (name: string) => `${ENTITY}/alert_rules/${name}`;
const indicatorAddress = (name: string) => `${ENTITY}/indicators/${name}`;
const channelAddress = (name: string) => `${ENTITY}/notification_channels/${name}`;
const updated = (addr: string, ...paths: string[]): Expected => ({ addr, action: 'update', paths });

/** A field of the alert manager takes another value. */
function entityField(field: string, value: unknown, ...paths: string[]): FieldCase {
  return {
    field: `entity.${field}`,
    change: (model) => {
      entityOf(model)[field] = value;
    },
    expected: [updated(ENTITY, ...(paths.length > 0 ? paths : [field]))],
  };
}

function ruleField(field: string, value: unknown, paths: readonly string[] = [field]): FieldCase {
  return {
    field: `rule.${field}`,
    change: (model) => {
      ruleOf(model, STATIC_RULE)[field] = value;
    },
    expected: [updated(ruleAddress(STATIC_RULE), ...paths)],
  };
}

function indicatorField(field: string, value: unknown): FieldCase {
  return {
    field: `indicator.${field}`,
    change: (model) => {
      indicatorOf(model, 0)[field] = value;
    },
    expected: [updated(indicatorAddress('5xx Status'), field)],
  };
}

const OPERATORS = ['greater_than', 'greater_than_eq', 'less_than', 'less_than_eq', 'equal_to', 'not_equal'];

/** From one operator to the next: the old one goes and the new one comes. */
function operator(index: number): FieldCase {
  const before = OPERATORS[index] as string;
  const after = OPERATORS[(index + 1) % OPERATORS.length] as string;
  return {
    field: `rule.${after}`,
    change: (model) => {
      const rule = ruleOf(model, STATIC_RULE);
      delete rule[before];
      rule[after] = index + 0.5;
    },
    expected: [updated(ruleAddress(STATIC_RULE), before, after)],
  };
}

const ENTITY_CASES: readonly FieldCase[] = [
  entityField('name', 'Round trip, renamed'),
  entityField('type', 'component'),
  entityField('description', 'Another text\nof two lines'),
  entityField('data_source', 'more-metrics'),
  {
    field: 'entity.data_source_id',
    change: (model) => {
      delete entityOf(model)['data_source'];
      entityOf(model)['data_source_id'] = 'ID-OF-METRICS';
    },
    // Named by id now; the difference is in the field that the model names it by.
    expected: [updated(ENTITY, 'data_source_id')],
  },
  entityField('namespace', 'warehouse'),
  entityField('workspace', 'staging'),
  entityField('team', 'logistics'),
  entityField('tier', '2'),
  entityField('ui_readonly', true),
  entityField('tags', ['http']),
  entityField('labels', { region: 'us', zone: 'a' }, 'labels.region'),
  entityField('links', [{ name: 'Board', url: 'https://dashboards.example.com/1' }], 'links'),
  { ...entityField('links', [{ name: 'Board', url: 'https://dashboards.example.com/2' }], 'links'), field: 'link.url' },
  {
    ...entityField('links', [{ name: 'Panel', url: 'https://dashboards.example.com/2' }], 'links'),
    field: 'link.name',
  },
  {
    field: 'adhoc_filter.labels',
    change: (model) => {
      entityOf(model).adhoc_filter.labels = { env: 'staging' };
    },
    expected: [updated(ENTITY, 'adhoc_filter.labels.env')],
  },
  {
    field: 'adhoc_filter.data_source',
    change: (model) => {
      entityOf(model).adhoc_filter.data_source = 'more-metrics';
    },
    expected: [updated(ENTITY, 'adhoc_filter.data_source')],
  },
  {
    field: 'entity.adhoc_filter',
    change: (model) => {
      delete (entityOf(model) as Partial<EntityData>).adhoc_filter;
    },
    expected: [updated(ENTITY, 'adhoc_filter.data_source', 'adhoc_filter.labels.env')],
  },
  {
    field: 'entity.entity_class',
    note: 'its only value is also what is meant without it',
    change: (model) => {
      delete entityOf(model)['entity_class'];
    },
    expected: [],
  },
];

const INDICATOR_CASES: readonly FieldCase[] = [
  indicatorField('query', 'sum by (code) (rate(http_requests_total{code="500", service="$service"}[10m]))'),
  indicatorField('unit', 'errors/s'),
  indicatorField('description', 'Internal errors a second'),
  indicatorField('data_source', 'more-metrics'),
  {
    field: 'entity.indicators',
    change: (model) => {
      entityOf(model).indicators.push({ name: 'Latency p99 / %', query: 'max(rate(latency_seconds_sum[5m]))' });
    },
    expected: [{ addr: indicatorAddress('Latency p99 / %'), action: 'create' }],
  },
  {
    field: 'indicator.name',
    note: 'not accepted as a rename: deleted and created',
    change: (model) => {
      (entityOf(model).indicators[2] as IndicatorData).name = 'Slowest';
    },
    expected: [
      { addr: indicatorAddress('Slowest'), action: 'create' },
      { addr: indicatorAddress('Latency p99 / %'), action: 'delete' },
    ],
  },
  {
    field: 'indicator.name',
    note: 'accepted as a rename: moved',
    flags: ['--accept-moves'],
    change: (model) => {
      (entityOf(model).indicators[2] as IndicatorData).name = 'Slowest of all';
    },
    expected: [{ addr: indicatorAddress('Slowest of all'), action: 'move', paths: ['name'] }],
  },
];

const RULE_CASES: readonly FieldCase[] = [
  ruleField('bad_minutes', 4),
  ruleField('total_minutes', 15),
  ruleField('severity', 'threat'),
  ruleField('description', '{{ printf "%.1f" $value }} errors'),
  ruleField('group_timeseries_notifications', false),
  ruleField('is_disabled', true),
  ruleField('mute', true),
  ruleField('label_filter', { service: 'checkout|cart' }, ['label_filter.service']),
  ruleField('annotations', { 'Check logs': 'https://logs.example.com/2', team: 'payments' }, [
    'annotations."Check logs"',
    'annotations.team',
  ]),
  ruleField('runbook', { link: 'https://runbooks.example.com/2' }, ['runbook.link']),
  { ...ruleField('runbook', undefined, ['runbook.link']), field: 'runbook.link' },
  ...OPERATORS.map((_, index) => operator(index)),
  {
    field: 'rule.expression',
    change: (model) => {
      ruleOf(model, PATTERN_RULE)['expression'] = 'low_spike(2.5, Requests)';
    },
    expected: [updated(ruleAddress(PATTERN_RULE), 'expression')],
  },
  {
    field: 'rule.indicator',
    change: (model) => {
      const rule = ruleOf(model, PATTERN_RULE);
      rule['indicator'] = 'Slowest of all';
      rule['expression'] = 'low_spike(2.5, Slowest of all)';
    },
    expected: [updated(ruleAddress(PATTERN_RULE), 'indicator', 'expression')],
  },
  {
    field: 'entity.alert_rules',
    change: (model) => {
      entityOf(model).alert_rules.push({
        name: 'No requests / %',
        indicator: 'Requests',
        less_than: 1,
        bad_minutes: 5,
        total_minutes: 5,
      });
    },
    expected: [{ addr: ruleAddress('No requests / %'), action: 'create' }],
  },
  {
    field: 'rule.name',
    note: 'not accepted as a rename: deleted and created',
    change: (model) => {
      ruleOf(model, 'No requests / %').name = 'Quiet';
    },
    expected: [
      { addr: ruleAddress('Quiet'), action: 'create' },
      { addr: ruleAddress('No requests / %'), action: 'delete' },
    ],
  },
  {
    field: 'rule.name',
    note: 'confirmed in the model: moved',
    change: (model) => {
      ruleOf(model, 'Quiet').name = 'Silence';
      model.moved = [{ from: ruleAddress('Quiet'), to: ruleAddress('Silence') }];
    },
    expected: [{ addr: ruleAddress('Silence'), action: 'move', paths: ['name'] }],
  },
];

const CHANNEL_CASES: readonly FieldCase[] = [
  channels(
    'channel.mention',
    [
      { name: 'chat', type: 'Slack', severity: 'breach', mention: ['@oncall', '@sre'] },
      { name: 'pages', type: 'Pagerduty', severity: 'breach' },
    ],
    [updated(channelAddress('chat/breach'), 'mention')],
  ),
  channels(
    'channel.severity',
    [
      { name: 'chat', type: 'Slack', severity: 'threat', mention: ['@oncall', '@sre'] },
      { name: 'pages', type: 'Pagerduty', severity: 'breach' },
    ],
    [
      { addr: channelAddress('chat/threat'), action: 'create' },
      { addr: channelAddress('chat/breach'), action: 'delete' },
    ],
  ),
  channels(
    'channel.name',
    [
      { name: 'other-chat', type: 'Slack', severity: 'threat', mention: ['@oncall', '@sre'] },
      { name: 'pages', type: 'Pagerduty', severity: 'breach' },
    ],
    [
      { addr: channelAddress('other-chat/threat'), action: 'create' },
      { addr: channelAddress('chat/threat'), action: 'delete' },
    ],
  ),
  {
    ...channels(
      'channel.type',
      [
        { name: 'other-chat', type: 'slack', severity: 'threat', mention: ['@oncall', '@sre'] },
        { name: 'pages', type: 'pagerduty', severity: 'breach' },
      ],
      [],
    ),
    note: 'in any case of letters',
  },
  channels('entity.notification_channels', 'pages', [
    { addr: channelAddress('pages/threat'), action: 'create' },
    { addr: channelAddress('other-chat/threat'), action: 'delete' },
  ]),
];

function channels(field: string, value: unknown, expected: readonly Expected[]): FieldCase {
  return {
    field,
    change: (model) => {
      entityOf(model).notification_channels = value;
    },
    expected,
  };
}

/** Last, since it changes the address of everything. */
const REFERENCE_CASE: FieldCase = {
  field: 'entity.external_ref',
  note: 'confirmed in the model: the alert manager keeps its id, and so does everything in it',
  change: (model) => {
    entityOf(model).external_ref = 'round-trip-2';
    model.moved = [{ from: ENTITY, to: 'round-trip-2' }];
  },
  expected: [{ addr: 'round-trip-2', action: 'move', paths: ['external_ref'] }],
};

/** In this order: each case changes what the one before left. */
export const FIELD_CASES: readonly FieldCase[] = [
  ...ENTITY_CASES,
  ...INDICATOR_CASES,
  ...RULE_CASES,
  ...CHANNEL_CASES,
  REFERENCE_CASE,
];
