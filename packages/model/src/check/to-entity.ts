/** Fills in every default: from the fields of a sound alert manager to the model's entity. */
import { readExpression } from '../macro/expression.ts';
import {
  type AdhocFilter,
  type AlertRule,
  CHANNEL_TYPES,
  type ChannelBinding,
  DEFAULTS,
  type Entity,
  type Indicator,
  SEVERITIES,
  THRESHOLD_OPERATORS,
  type Threshold,
} from '../model.ts';
import type { Place } from '../parse/place.ts';
import type { AlertRuleInput, EntityInput } from '../schema/model-schema.ts';
import type { Path } from '../schema/path.ts';

/** `source` of each object is the span of its name. */
export function toEntity(input: EntityInput, place: Place): Entity {
  const data_source = input.data_source ?? '';
  const names = new Set((input.indicators ?? []).map(({ name }) => name));
  return {
    name: input.name,
    type: input.type,
    external_ref: input.external_ref,
    description: input.description ?? '',
    data_source,
    data_source_id: input.data_source_id ?? '',
    entity_class: input.entity_class ?? DEFAULTS.entity_class,
    namespace: input.namespace ?? '',
    workspace: input.workspace ?? '',
    tier: input.tier ?? '',
    team: input.team || DEFAULTS.team,
    ui_readonly: input.ui_readonly ?? false,
    tags: (input.tags ?? []).map((tag, i) => writtenText(tag, place, ['tags', i])),
    labels: textMap(input.labels, place, ['labels']),
    links: (input.links ?? []).map(({ name, url }) => ({ name, url })),
    adhoc_filter: toAdhocFilter(input, data_source, place),
    indicators: (input.indicators ?? []).map((indicator, i) => toIndicator(indicator, i, place)),
    alert_rules: (input.alert_rules ?? []).map((rule, i) => toRule(rule, ['alert_rules', i], names, place)),
    notification_channels: toBindings(input.notification_channels ?? [], place),
    source: place.object([]),
  };
}

/** A filter without labels filters nothing, so it is none. */
function toAdhocFilter({ adhoc_filter }: EntityInput, data_source: string, place: Place): AdhocFilter | null {
  if (!adhoc_filter || Object.keys(adhoc_filter.labels).length === 0) return null;
  return {
    data_source: adhoc_filter.data_source ?? data_source,
    labels: textMap(adhoc_filter.labels, place, ['adhoc_filter', 'labels']),
  };
}

function toIndicator(input: NonNullable<EntityInput['indicators']>[number], index: number, place: Place): Indicator {
  return {
    name: input.name,
    query: input.query,
    unit: input.unit ?? DEFAULTS.unit,
    description: input.description ?? '',
    data_source: input.data_source ?? '',
    source: place.object(['indicators', index]),
  };
}

function toRule(rule: AlertRuleInput, path: Path, names: ReadonlySet<string>, place: Place): AlertRule {
  const scope = { indicator: rule.indicator, names, namesAreComplete: true };
  const expression = readExpression(rule.expression ?? '', scope);
  return {
    name: rule.name,
    indicator: rule.indicator,
    ...(expression.kind === 'pattern' && { pattern: expression.pattern }),
    threshold: toThreshold(rule),
    bad_minutes: rule.bad_minutes,
    total_minutes: rule.total_minutes,
    severity: rule.severity ?? DEFAULTS.severity,
    description: rule.description ?? '',
    group_timeseries_notifications: rule.group_timeseries_notifications ?? DEFAULTS.group_timeseries_notifications,
    is_disabled: rule.is_disabled ?? false,
    mute: rule.mute ?? false,
    label_filter: textMap(rule.label_filter, place, [...path, 'label_filter']),
    annotations: textMap(rule.annotations, place, [...path, 'annotations']),
    runbook: rule.runbook?.link ?? '',
    source: place.object(path),
  };
}

/** A pattern rule without a threshold is bad where the pattern is found at all. */
function toThreshold(rule: AlertRuleInput): Threshold {
  const operator = THRESHOLD_OPERATORS.find((each) => rule[each] !== undefined);
  // Adding 0 makes -0 into 0, which compares and prints the same everywhere.
  return operator ? { operator, value: rule[operator]! + 0 } : { operator: 'greater_than', value: 0 };
}

function toBindings(channels: NonNullable<EntityInput['notification_channels']>, place: Place): ChannelBinding[] {
  const items = typeof channels === 'string' ? [channels] : channels;
  return items.flatMap((channel, i) => {
    const source = place.object(
      typeof channels === 'string' ? ['notification_channels'] : ['notification_channels', i],
    );
    if (typeof channel === 'string') {
      return SEVERITIES.map((severity) => ({ name: channel, type: null, severity, mention: [], source }));
    }
    const type = CHANNEL_TYPES.find((each) => each === channel.type.toLowerCase()) ?? null;
    const mention = typeof channel.mention === 'string' ? [channel.mention] : (channel.mention ?? []);
    const severities = channel.severity === undefined ? SEVERITIES : [channel.severity];
    return severities.map((severity) => ({ name: channel.name, type, severity, mention, source }));
  });
}

type Written = string | number | boolean;

/** The text of a number or boolean as it stands in the file: `1.10` stays `1.10`. */
function writtenText(value: Written, place: Place, path: Path): string {
  return typeof value === 'string' ? value : (place.written(path) ?? String(value));
}

function textMap(map: Readonly<Record<string, Written>> | undefined, place: Place, path: Path): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(map ?? {})) texts[key] = writtenText(value, place, [...path, key]);
  return texts;
}
