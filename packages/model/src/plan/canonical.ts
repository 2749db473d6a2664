/**
 * When two objects mean the same. Defaults are filled in; the order of tags, links, mentions and map keys, the spelling
 * of numbers and the layout of queries do not count. Each type has one table with a rule for each of its fields.
 */
import { type AlertRule, type ChannelBinding, DEFAULTS, type Entity, type Indicator } from '../model.ts';
import { canonicalQuery } from '../query-text.ts';
import {
  type Comparison,
  type FieldRule,
  type FieldTable,
  jsonNumber,
  mapField,
  scalarField,
  setField,
  shownMap,
  sortedEntries,
  textField,
} from './field-rules.ts';
import type { ActualDataSource, Json, Sha256 } from './plan.ts';

/** Indicators, rules and channels are objects of their own; a source is where the object stands, not what it is. */
export type EntityFields = FieldTable<Entity, 'indicators' | 'alert_rules' | 'notification_channels' | 'source'>;

export const ENTITY_FIELDS: EntityFields = {
  name: textField('name', (entity) => entity.name),
  type: textField('type', (entity) => entity.type),
  external_ref: textField('external_ref', (entity) => entity.external_ref),
  description: textField('description', (entity) => entity.description),
  data_source: textField('data_source', (entity) => entity.data_source),
  data_source_id: textField('data_source_id', (entity) => entity.data_source_id),
  entity_class: textField('entity_class', (entity) => entity.entity_class, DEFAULTS.entity_class),
  namespace: textField('namespace', (entity) => entity.namespace),
  workspace: textField('workspace', (entity) => entity.workspace),
  tier: textField('tier', (entity) => entity.tier),
  team: textField('team', (entity) => entity.team, DEFAULTS.team),
  ui_readonly: scalarField('ui_readonly', (entity) => entity.ui_readonly),
  tags: setField('tags', (entity) => entity.tags),
  labels: mapField('labels', (entity) => entity.labels),
  links: {
    canonical: (entity) => entity.links.map((link) => JSON.stringify([link.name, link.url])).sort(),
    show: (entity) =>
      entity.links.length === 0 ? [] : [['links', entity.links.map((link) => ({ name: link.name, url: link.url }))]],
  },
  adhoc_filter: {
    // A filter without labels filters nothing, and one without a data source filters the entity's.
    canonical: (entity, comparison) => {
      const filter = entity.adhoc_filter;
      if (filter === null || Object.keys(filter.labels).length === 0) return null;
      return [filter.data_source || sourceKey(entity, comparison), sortedEntries(filter.labels)];
    },
    show: (entity, comparison) => {
      const filter = entity.adhoc_filter;
      if (filter === null || Object.keys(filter.labels).length === 0) return [];
      const source = filter.data_source || sourceKey(entity, comparison);
      const labels = shownMap('adhoc_filter.labels', filter.labels);
      return source === '' ? labels : [['adhoc_filter.data_source', source], ...labels];
    },
  },
};

export const INDICATOR_FIELDS: FieldTable<Indicator, 'source'> = {
  name: textField('name', (indicator) => indicator.name),
  query: {
    canonical: (indicator, comparison) => comparison.query(indicator.query),
    show: (indicator) => [['query', indicator.query]],
  },
  unit: textField('unit', (indicator) => indicator.unit, DEFAULTS.unit),
  description: textField('description', (indicator) => indicator.description),
  data_source: textField('data_source', (indicator) => indicator.data_source),
};

export const ALERT_RULE_FIELDS: FieldTable<AlertRule, 'source'> = {
  name: textField('name', (rule) => rule.name),
  indicator: textField('indicator', (rule) => rule.indicator),
  pattern: {
    canonical: ({ pattern }) =>
      pattern === undefined ? null : [pattern.macro, jsonNumber(pattern.tolerance), pattern.indicator],
    show: ({ pattern }) =>
      pattern === undefined ? [] : [['expression', `${pattern.macro}(${pattern.tolerance + 0}, ${pattern.indicator})`]],
  },
  threshold: {
    canonical: ({ threshold }) => [threshold.operator, jsonNumber(threshold.value)],
    show: ({ threshold }) => [[threshold.operator, jsonNumber(threshold.value)]],
  },
  bad_minutes: scalarField('bad_minutes', (rule) => rule.bad_minutes),
  total_minutes: scalarField('total_minutes', (rule) => rule.total_minutes),
  severity: textField('severity', (rule) => rule.severity, DEFAULTS.severity),
  description: textField('description', (rule) => rule.description),
  group_timeseries_notifications: scalarField(
    'group_timeseries_notifications',
    (rule) => rule.group_timeseries_notifications,
  ),
  is_disabled: scalarField('is_disabled', (rule) => rule.is_disabled),
  mute: scalarField('mute', (rule) => rule.mute),
  label_filter: mapField('label_filter', (rule) => rule.label_filter),
  annotations: mapField('annotations', (rule) => rule.annotations),
  runbook: textField('runbook.link', (rule) => rule.runbook),
};

export const CHANNEL_FIELDS: FieldTable<ChannelBinding, 'source'> = {
  name: textField('name', (binding) => binding.name),
  type: textField('type', (binding) => binding.type ?? ''),
  severity: textField('severity', (binding) => binding.severity),
  mention: setField('mention', (binding) => binding.mention),
};

/** What comparing needs to know of a service. Queries are remembered, since both sides mostly hold the same text. */
export function createComparison(dataSources: readonly ActualDataSource[]): Comparison {
  const queries = new Map<string, string>();
  const names = new Map(dataSources.map((source) => [source.id, source.name]));
  const ids = new Map(dataSources.map((source) => [source.name, source.id]));
  return {
    query: (text) => {
      const known = queries.get(text);
      if (known !== undefined) return known;
      const canonicalText = canonicalQuery(text);
      queries.set(text, canonicalText);
      return canonicalText;
    },
    sourceName: (id) => names.get(id),
    sourceId: (name) => ids.get(name),
  };
}

/** One text for a data source that may be given by name, by id or by both. */
function sourceKey(entity: Entity, comparison: Comparison): string {
  return entity.data_source || comparison.sourceName(entity.data_source_id) || entity.data_source_id;
}

function canonical<Value>(
  table: Readonly<Record<string, FieldRule<Value>>>,
  value: Value,
  comparison: Comparison,
): { [field: string]: Json } {
  const result: { [field: string]: Json } = {};
  for (const field in table) result[field] = table[field]!.canonical(value, comparison);
  return result;
}

/** The canonical form of an entity's own fields. The data source stands once, however it was given. */
export function canonicalEntity(entity: Entity, comparison: Comparison): Json {
  const { data_source_id: _, ...form } = canonical(ENTITY_FIELDS, entity, comparison);
  return { ...form, data_source: sourceKey(entity, comparison) };
}

export function canonicalIndicator(indicator: Indicator, comparison: Comparison): Json {
  return canonical(INDICATOR_FIELDS, indicator, comparison);
}

export function canonicalRule(rule: AlertRule, comparison: Comparison): Json {
  return canonical(ALERT_RULE_FIELDS, rule, comparison);
}

/** The canonical form of a binding. Its type is left out: the channel decides it, and the YAML need not repeat it. */
export function canonicalBinding(binding: ChannelBinding, comparison: Comparison): Json {
  const { type: _, ...form } = canonical(CHANNEL_FIELDS, binding, comparison);
  return form;
}

// Raised when the canonical forms change, so that digests of older versions are not taken for drift.
const DIGEST_PREFIX = '1:';
const DIGEST_HEX_DIGITS = 32;

/** The digest that the state keeps of a canonical form, given as JSON text: the form's version and 128 bits of SHA-256. */
export function digestOf(formText: string, sha256: Sha256): string {
  return DIGEST_PREFIX + sha256(formText).slice(0, DIGEST_HEX_DIGITS);
}

/** Whether a digest was made from the canonical forms of this version, so that it can be compared. */
export function isComparableDigest(digest: string): boolean {
  return digest.startsWith(DIGEST_PREFIX);
}
