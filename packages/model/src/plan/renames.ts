/** Deletions and creations that look like renames: offered to the user, and never followed without a yes. */
import type { Entity } from '../model.ts';
import type { AlertRuleChange, Change, EntityChange, IndicatorChange, PlanInput, RenameSuggestion } from './plan.ts';

/** Texts that are equal for two objects that may be one; a later one asks for less. Null: says nothing of this object. */
type Signature<One extends Change> = (change: One) => string | null;

/**
 * Pairs each deletion with the creation of the same kind that differs from it in name only, or nearly so. Only where
 * exactly one deletion and one creation look alike is there a suggestion.
 */
export function suggestRenames(changes: readonly Change[], deletions: readonly Change[]): RenameSuggestion[] {
  const created = changes.filter((change) => change.action === 'create');
  const deleted = deletions.filter((change) => change.action === 'delete' && change.impliedBy === undefined);
  if (created.length === 0 || deleted.length === 0) return [];
  const ofKind = <Kind extends Change['kind']>(kind: Kind) => ({
    created: created.filter((change): change is Extract<Change, { kind: Kind }> => change.kind === kind),
    deleted: deleted.filter((change): change is Extract<Change, { kind: Kind }> => change.kind === kind),
  });
  const indicators = pair(ofKind('indicator'), INDICATOR_SIGNATURES);
  // A rule whose indicator seems renamed is compared as if it were.
  const renamed = new Map(indicators.map(({ from, to }) => [from, to]));
  const rules = pair(ofKind('alert_rule'), ruleSignatures(renamed));
  return [...pair(ofKind('entity'), ENTITY_SIGNATURES), ...indicators, ...rules];
}

function pair<One extends Change>(
  sides: { readonly created: readonly One[]; readonly deleted: readonly One[] },
  signatures: readonly Signature<One>[],
): RenameSuggestion[] {
  const suggestions: RenameSuggestion[] = [];
  let { created, deleted } = sides;
  for (const signature of signatures) {
    if (created.length === 0 || deleted.length === 0) break;
    const createdBy = Map.groupBy(created, signature);
    const paired = new Set<One>();
    for (const [text, from] of Map.groupBy(deleted, signature)) {
      const to = text === null ? undefined : createdBy.get(text);
      const before: One | undefined = from[0];
      const after: One | undefined = to?.[0];
      if (!before || !after || from.length > 1 || to!.length > 1) continue;
      paired.add(before).add(after);
      suggestions.push({
        kind: after.kind,
        from: before.address,
        to: after.address,
        ...(after.source && { source: after.source }),
      });
    }
    created = created.filter((change) => !paired.has(change));
    deleted = deleted.filter((change) => !paired.has(change));
  }
  return suggestions;
}

/** The entity that the address of an indicator or a rule begins with. */
const entityOf = (change: Change) => change.address.slice(0, change.address.indexOf('/'));

const text = JSON.stringify;
const map = (record: Readonly<Record<string, string>>) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));

const INDICATOR_SIGNATURES: readonly Signature<IndicatorChange>[] = [
  (change) => {
    const { query, unit, description, data_source } = (change.desired ?? change.actual)!;
    return text([entityOf(change), query.trim(), unit, description, data_source]);
  },
  (change) => text([entityOf(change), (change.desired ?? change.actual)!.query.trim()]),
];

function ruleSignatures(renamed: ReadonlyMap<string, string>): readonly Signature<AlertRuleChange>[] {
  const indicator = (change: AlertRuleChange) => {
    const address = `${entityOf(change)}/indicators/${(change.desired ?? change.actual)!.indicator}`;
    return change.desired ? address : (renamed.get(address) ?? address);
  };
  const condition = (change: AlertRuleChange) => {
    const { pattern, threshold, severity } = (change.desired ?? change.actual)!;
    const macro = pattern ? [pattern.macro, pattern.tolerance] : null;
    return [indicator(change), macro, threshold.operator, threshold.value, severity];
  };
  return [
    (change) => {
      const rule = (change.desired ?? change.actual)!;
      const flags = [rule.group_timeseries_notifications, rule.is_disabled, rule.mute];
      const texts = [rule.description, rule.runbook, map(rule.label_filter), map(rule.annotations)];
      return text([condition(change), rule.bad_minutes, rule.total_minutes, flags, texts]);
    },
    (change) => {
      const { bad_minutes, total_minutes, label_filter } = (change.desired ?? change.actual)!;
      return text([condition(change), bad_minutes, total_minutes, map(label_filter)]);
    },
    (change) => text(condition(change)),
  ];
}

const ENTITY_SIGNATURES: readonly Signature<EntityChange>[] = [
  (change) => {
    const entity = (change.desired ?? change.actual)!;
    return text([ownFields(entity), contents(entity)]);
  },
  (change) => text(ownFields((change.desired ?? change.actual)!)),
  (change) => {
    const entity = (change.desired ?? change.actual)!;
    return entity.indicators.length + entity.alert_rules.length === 0 ? null : text(contents(entity));
  },
  (change) => {
    const { name, type } = (change.desired ?? change.actual)!;
    return text([name, type]);
  },
];

function ownFields(entity: Entity) {
  const { name, type, description, namespace, workspace, tier, team, tags, labels, adhoc_filter } = entity;
  const filter = adhoc_filter && map(adhoc_filter.labels);
  return [name, type, description, namespace, workspace, tier, team, [...tags].sort(), map(labels), filter];
}

function contents(entity: Entity) {
  return [
    entity.indicators.map((indicator) => text([indicator.name, indicator.query.trim()])).sort(),
    entity.alert_rules.map((rule) => text([rule.name, rule.indicator, rule.threshold])).sort(),
  ];
}

/**
 * The input with the suggestions confirmed, as if the model had said so with `moved`. Planning it again may bring new
 * suggestions: those inside an entity that was itself renamed.
 */
export function acceptRenames(input: PlanInput, suggestions: readonly RenameSuggestion[]): PlanInput {
  const moved = [...input.desired.moved, ...suggestions.map(({ from, to, source }) => ({ from, to, source }))];
  return { ...input, desired: { ...input.desired, moved } };
}
