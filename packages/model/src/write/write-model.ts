/** Writes alert managers as canonical YAML: fixed order of fields, defaults left out, the same text for the same model. */
import {
  type AlertRule,
  type ChannelBinding,
  type ChannelType,
  DEFAULTS,
  type Entity,
  type Indicator,
  type Link,
  SEVERITIES,
} from '../model.ts';
import { CHANNEL_TYPE_NAMES } from '../schema/model-schema.ts';
import { writeInline, writeScalar } from './scalar.ts';

type Field = readonly [key: string, value: YamlValue | undefined];
type YamlValue = string | number | boolean | readonly YamlValue[] | Mapping;

/** Fields in the order in which they are written; undefined ones are left out. */
interface Mapping {
  readonly fields: readonly Field[];
}

/**
 * The YAML of a model file. `parseModel` reads it back as equal entities.
 *
 * Throws a `RangeError` for a channel without type that is bound to one severity alone: no YAML says that.
 */
export function writeModel(entities: readonly Entity[]): string {
  if (entities.length === 0) return 'entities: []\n';
  return `entities:\n${writeList(entities.map(entityFields), 2)}`;
}

const text = (value: string, absent = ''): string | undefined => (value === absent ? undefined : value);
const flag = (value: boolean, absent = false): boolean | undefined => (value === absent ? undefined : value);
const list = (items: readonly YamlValue[]): readonly YamlValue[] | undefined =>
  items.length === 0 ? undefined : items;
const map = (record: Readonly<Record<string, string>>): Mapping | undefined => {
  const fields = Object.entries(record);
  return fields.length === 0 ? undefined : { fields };
};

function entityFields(entity: Entity): Mapping {
  const { adhoc_filter } = entity;
  const filter = adhoc_filter && {
    fields: [
      ['data_source', text(adhoc_filter.data_source, entity.data_source)],
      ['labels', { fields: Object.entries(adhoc_filter.labels) }],
    ] as const,
  };
  return {
    fields: [
      ['name', entity.name],
      ['type', entity.type],
      ['external_ref', entity.external_ref],
      ['entity_class', text(entity.entity_class, DEFAULTS.entity_class)],
      ['description', text(entity.description)],
      ['data_source', text(entity.data_source)],
      ['data_source_id', text(entity.data_source_id)],
      ['namespace', text(entity.namespace)],
      ['workspace', text(entity.workspace)],
      ['team', text(entity.team, DEFAULTS.team)],
      ['tier', text(entity.tier)],
      ['tags', list(entity.tags)],
      ['labels', map(entity.labels)],
      ['links', list(entity.links.map(linkFields))],
      ['ui_readonly', flag(entity.ui_readonly)],
      ['adhoc_filter', filter ?? undefined],
      ['indicators', list(entity.indicators.map(indicatorFields))],
      ['alert_rules', list(entity.alert_rules.map(ruleFields))],
      ['notification_channels', list(channelItems(entity.notification_channels))],
    ],
  };
}

const linkFields = ({ name, url }: Link): Mapping => ({
  fields: [
    ['name', name],
    ['url', url],
  ],
});

function indicatorFields(indicator: Indicator): Mapping {
  return {
    fields: [
      ['name', indicator.name],
      ['description', text(indicator.description)],
      ['data_source', text(indicator.data_source)],
      ['unit', text(indicator.unit, DEFAULTS.unit)],
      ['query', indicator.query],
    ],
  };
}

function ruleFields(rule: AlertRule): Mapping {
  const { pattern, threshold, runbook } = rule;
  const isImplied = pattern && threshold.operator === 'greater_than' && threshold.value === 0;
  return {
    fields: [
      ['name', rule.name],
      ['description', text(rule.description)],
      ['indicator', rule.indicator],
      ['expression', pattern && `${pattern.macro}(${pattern.tolerance}, ${pattern.indicator})`],
      [threshold.operator, isImplied ? undefined : threshold.value],
      ['bad_minutes', rule.bad_minutes],
      ['total_minutes', rule.total_minutes],
      ['severity', rule.severity],
      [
        'group_timeseries_notifications',
        flag(rule.group_timeseries_notifications, DEFAULTS.group_timeseries_notifications),
      ],
      ['is_disabled', flag(rule.is_disabled)],
      ['mute', flag(rule.mute)],
      ['label_filter', map(rule.label_filter)],
      ['annotations', map(rule.annotations)],
      ['runbook', runbook === '' ? undefined : { fields: [['link', runbook]] }],
    ],
  };
}

/** Joins the two severities of one channel where they stand together, as a channel without severity gives them. */
function channelItems(bindings: readonly ChannelBinding[]): YamlValue[] {
  const items: YamlValue[] = [];
  for (let i = 0; i < bindings.length; i++) {
    const binding = bindings[i]!;
    const isBoth = isPair(binding, bindings[i + 1]);
    if (isBoth) i++;
    items.push(channelItem(binding, isBoth));
  }
  return items;
}

function isPair(first: ChannelBinding, second: ChannelBinding | undefined): boolean {
  return (
    second !== undefined &&
    first.name === second.name &&
    first.type === second.type &&
    first.severity === SEVERITIES[0] &&
    second.severity === SEVERITIES[1] &&
    first.mention.length === second.mention.length &&
    first.mention.every((mention, i) => mention === second.mention[i])
  );
}

function channelItem({ name, type, severity, mention }: ChannelBinding, isBoth: boolean): YamlValue {
  if (type === null) {
    if (!isBoth) throw new RangeError(`the channel "${name}" has no type and is bound to ${severity} alone`);
    return name;
  }
  const mentions = mention.length === 1 ? mention[0] : list(mention);
  return {
    fields: [
      ['name', name],
      ['type', typeName(type)],
      ['severity', isBoth ? undefined : severity],
      ['mention', mentions],
    ],
  };
}

const typeName = (type: ChannelType) => CHANNEL_TYPE_NAMES.find((name) => name.toLowerCase() === type) ?? type;

const isList = (value: YamlValue): value is readonly YamlValue[] => Array.isArray(value);

function writeList(items: readonly YamlValue[], indent: number): string {
  const margin = ' '.repeat(indent);
  return items
    .map((item) => {
      if (typeof item !== 'object') return `${margin}- ${writeValue(item, indent + 2)}\n`;
      // The first field of a mapping stands on the line of the hyphen.
      if (!isList(item)) return `${margin}- ${writeMapping(item, indent + 2).slice(indent + 2)}`;
      return `${margin}-\n${writeList(item, indent + 2)}`;
    })
    .join('');
}

function writeMapping({ fields }: Mapping, indent: number): string {
  const margin = ' '.repeat(indent);
  return fields
    .map(([key, value]) => {
      if (value === undefined) return '';
      const start = `${margin}${writeInline(key)}:`;
      if (typeof value !== 'object') return `${start} ${writeValue(value, indent + 2)}\n`;
      if (isList(value)) return `${start}\n${writeList(value, indent + 2)}`;
      return `${start}\n${writeMapping(value, indent + 2)}`;
    })
    .join('');
}

function writeValue(value: string | number | boolean, indent: number): string {
  return typeof value === 'string' ? writeScalar(value, indent) : String(value);
}
