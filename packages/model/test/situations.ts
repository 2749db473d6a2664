/** Hand-made models and services for tests of single situations. */
import {
  type Actual,
  type ActualEntity,
  type AlertRule,
  type ChannelBinding,
  type Entity,
  type Indicator,
  type Moved,
  type Plan,
  plan,
  recordResult,
  type State,
  StateEditor,
} from '../src/index.ts';
import { newState } from './apply-plan.ts';
import { sha256 } from './reference-service.ts';

export const makeIndicator = (fields: Partial<Indicator> = {}): Indicator => ({
  name: 'errors',
  query: 'sum(rate(errors_total[5m]))',
  unit: 'count',
  description: '',
  data_source: '',
  ...fields,
});

export const makeRule = (fields: Partial<AlertRule> = {}): AlertRule => ({
  name: 'too many errors',
  indicator: 'errors',
  threshold: { operator: 'greater_than', value: 5 },
  bad_minutes: 3,
  total_minutes: 5,
  severity: 'breach',
  description: '',
  group_timeseries_notifications: true,
  is_disabled: false,
  mute: false,
  label_filter: {},
  annotations: {},
  runbook: '',
  ...fields,
});

export const makeBinding = (fields: Partial<ChannelBinding> = {}): ChannelBinding => ({
  name: 'oncall',
  type: 'slack',
  severity: 'breach',
  mention: [],
  ...fields,
});

export const makeEntity = (fields: Partial<Entity> = {}): Entity => ({
  name: 'Checkout',
  type: 'service',
  external_ref: 'checkout',
  description: '',
  data_source: '',
  data_source_id: '',
  entity_class: 'alert-manager',
  namespace: '',
  workspace: '',
  tier: '',
  team: 'default',
  ui_readonly: false,
  tags: [],
  labels: {},
  links: [],
  adhoc_filter: null,
  indicators: [makeIndicator()],
  alert_rules: [makeRule()],
  notification_channels: [makeBinding()],
  ...fields,
});

/** One entity as a service holds it; ids are made from the names it had at first, so that renames can keep them. */
export function heldEntity(entity: Entity, first: Entity = entity): ActualEntity {
  const id = first.external_ref;
  const ids = (values: readonly { name: string }[], firsts: readonly { name: string }[]) =>
    Object.fromEntries(values.map(({ name }, index) => [name, `${id}:${firsts[index]?.name ?? name}`]));
  return {
    id,
    entity,
    indicatorIds: ids(entity.indicators, first.indicators),
    ruleIds: ids(entity.alert_rules, first.alert_rules),
    bindingIds: Object.fromEntries(
      entity.notification_channels.map(({ name, severity }) => [`${name}/${severity}`, `${id}:${name}:${severity}`]),
    ),
  };
}

const CHANNELS: Actual['channels'] = [
  { id: '1', name: 'oncall', type: 'slack' },
  { id: '2', name: 'pager', type: 'pagerduty' },
];

/** A service that holds these entities. */
export function serviceWith(...entities: readonly (Entity | ActualEntity)[]): Actual {
  return {
    entities: entities.map((one) => ('bindingIds' in one ? one : heldEntity(one))),
    channels: CHANNELS,
    data_sources: [{ id: 'ds-1', name: 'prod', is_default: true }],
  };
}

/** The state after the service's content was applied from an equal model. */
export function stateAfter(actual: Actual, changes: Partial<State> = {}): State {
  const desired = { entities: actual.entities.map(({ entity }) => entity), moved: [] };
  const editor = new StateEditor(newState());
  for (const change of plan({ desired, actual, state: null, sha256 }).changes) recordResult(editor, change);
  return { ...editor.snapshot({ now: '2026-01-02T00:00:00Z', tool_version: '1.0.0' }), ...changes };
}

export function planOf(
  entities: readonly Entity[],
  actual: Actual,
  state: State | null,
  moved: readonly Moved[] = [],
): Plan {
  return plan({ desired: { entities, moved }, actual, state, sha256 });
}

/** The changes that are not `noop`, each as `action address (reason) paths`. */
export function lines(made: Plan): string[] {
  return made.changes
    .filter(({ action }) => action !== 'noop')
    .map(({ action, address, previousAddress, reason, fields }) => {
      const from = previousAddress === undefined ? '' : `${previousAddress} -> `;
      return [`${action} ${from}${address} (${reason})`, ...fields.map(({ path }) => path)].join(' ');
    });
}
