/** The fields in which two objects differ, in the words of the YAML. */
import type { AlertRule, ChannelBinding, Entity, Indicator } from '../model.ts';
import { ALERT_RULE_FIELDS, CHANNEL_FIELDS, createComparison, ENTITY_FIELDS, INDICATOR_FIELDS } from './canonical.ts';
import type { Comparison, FieldRule } from './field-rules.ts';
import type { Change, FieldChange, Json } from './plan.ts';

const NONE: readonly FieldChange[] = [];

type Table<Value> = Readonly<Record<string, FieldRule<Value>>>;

function differences<Value>(
  table: Table<Value>,
  desired: Value,
  actual: Value,
  comparison: Comparison,
): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  for (const field in table) {
    const rule = table[field]!;
    const wanted = rule.canonical(desired, comparison);
    const held = rule.canonical(actual, comparison);
    if (wanted === held || JSON.stringify(wanted) === JSON.stringify(held)) continue;
    const before = new Map<string, Json>(rule.show(actual, comparison));
    const after = new Map<string, Json>(rule.show(desired, comparison));
    for (const path of new Set([...before.keys(), ...after.keys()])) {
      const change = fieldChange(path, before.get(path), after.get(path));
      if (JSON.stringify(change.before) !== JSON.stringify(change.after)) changes.push(change);
    }
  }
  return changes.length === 0 ? NONE : changes;
}

function fieldChange(path: string, before: Json | undefined, after: Json | undefined): FieldChange {
  return { path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
}

/** The differences between an entity's own fields. */
export function compareEntities(desired: Entity, actual: Entity, comparison: Comparison): readonly FieldChange[] {
  return differences(ENTITY_FIELDS, desired, withComparableSource(desired, actual, comparison), comparison);
}

/**
 * A model may name a data source by name or by id, and a service may answer with both. What the model leaves out next to
 * the other is not compared; when it leaves out both, the entity shall have none.
 */
function withComparableSource(desired: Entity, actual: Entity, comparison: Comparison): Entity {
  const name = actual.data_source || comparison.sourceName(actual.data_source_id) || '';
  const id = actual.data_source_id || comparison.sourceId(actual.data_source) || '';
  if (desired.data_source !== '' && desired.data_source_id !== '') {
    return { ...actual, data_source: name, data_source_id: id };
  }
  if (desired.data_source !== '') return { ...actual, data_source: name, data_source_id: '' };
  if (desired.data_source_id !== '') return { ...actual, data_source: '', data_source_id: id };
  return actual.data_source === '' ? actual : { ...actual, data_source_id: '' };
}

export function compareIndicators(
  desired: Indicator,
  actual: Indicator,
  comparison: Comparison,
): readonly FieldChange[] {
  return differences(INDICATOR_FIELDS, desired, actual, comparison);
}

export function compareRules(desired: AlertRule, actual: AlertRule, comparison: Comparison): readonly FieldChange[] {
  return differences(ALERT_RULE_FIELDS, desired, actual, comparison);
}

/** The differences between two bindings; a type that the model does not give is not compared. */
export function compareBindings(
  desired: ChannelBinding,
  actual: ChannelBinding,
  comparison: Comparison,
): readonly FieldChange[] {
  const comparable = desired.type === null ? { ...actual, type: null } : actual;
  return differences(CHANNEL_FIELDS, desired, comparable, comparison);
}

/** The fields to show for a change: those that differ, or all that a new or deleted object has. */
export function shownFields(change: Change): readonly FieldChange[] {
  if (change.action === 'create' && change.desired) return allFields(change, 'after');
  if (change.action === 'delete' && change.actual) return allFields(change, 'before');
  return change.fields;
}

function allFields(change: Change, side: 'before' | 'after'): readonly FieldChange[] {
  const show = <Value>(table: Table<Value>, value: Value): readonly FieldChange[] => {
    const comparison = createComparison([]);
    return Object.values(table)
      .flatMap((rule) => rule.show(value, comparison))
      .map(([path, json]) => ({ path, [side]: json }));
  };
  switch (change.kind) {
    case 'entity':
      return show<Entity>(ENTITY_FIELDS, (change.desired ?? change.actual)!);
    case 'indicator':
      return show<Indicator>(INDICATOR_FIELDS, (change.desired ?? change.actual)!);
    case 'alert_rule':
      return show<AlertRule>(ALERT_RULE_FIELDS, (change.desired ?? change.actual)!);
    case 'channel':
      return show<ChannelBinding>(CHANNEL_FIELDS, (change.desired ?? change.actual)!);
  }
}
