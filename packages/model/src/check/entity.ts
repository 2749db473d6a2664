/** Checks one alert manager of a file and turns it into the model's entity. */
import type { Source } from '../diagnostic.ts';
import type { Entity } from '../model.ts';
import type { Place } from '../parse/place.ts';
import { type EntityInput, entitySchema } from '../schema/model-schema.ts';
import { checkFields, type FieldProblem } from '../schema/problems.ts';
import { checkAdhocFilter } from './adhoc-filter.ts';
import { checkChannels } from './channels.ts';
import type { EntityContext } from './context.ts';
import { checkIndicators } from './indicators.ts';
import { oneOf } from './nearest.ts';
import { checkQueries } from './queries.ts';
import type { Report } from './report.ts';
import { checkRules } from './rules.ts';
import { toEntity } from './to-entity.ts';

export interface Named {
  readonly name: string;
  readonly source?: Source | undefined;
}

/** What the checks of the whole model need to know of an alert manager, sound or not. */
export interface CheckedEntity {
  /** Null when it has errors. */
  readonly entity: Entity | null;
  /** Place of the `external_ref`. */
  readonly ref: Named | undefined;
  readonly label: string;
  readonly rules: readonly Named[];
  readonly indicators: readonly Named[];
}

/** Checks `value`, an item of `entities` as plain data. All problems go to the report. */
export function checkEntity(value: unknown, place: Place, report: Report): CheckedEntity {
  const errorsBefore = report.errorCount();
  dropEmptyFields(value);
  const { isSound, problems, draft } = checkFields<EntityInput>(entitySchema, value, 'An alert manager');
  reportFields(problems, place, report);
  if (!draft) return { entity: null, ref: undefined, label: '', rules: [], indicators: [] };
  const context = { draft, place, report, queries: checkQueries({ draft, place, report }) };
  checkDataSource(context);
  checkAdhocFilter(context);
  checkIndicators(context);
  checkRules(context);
  checkChannels(context);
  const ref = draft.external_ref;
  const hasErrors = report.errorCount() > errorsBefore || report.isFull();
  const entity = isSound && !hasErrors ? toEntity(draft as EntityInput, place) : null;
  return {
    entity,
    ref: ref === undefined ? undefined : { name: ref, source: place.value(['external_ref']) },
    label: draft.name ?? ref ?? '',
    rules: entity ? entity.alert_rules : named(context, 'alert_rules'),
    indicators: entity ? entity.indicators : named(context, 'indicators'),
  };
}

/** Gives each problem of the schema its place in the file. Fields that one object lacks are one problem. */
export function reportFields(problems: readonly FieldProblem[], place: Place, report: Report): void {
  const missing = new Map<string, FieldProblem[]>();
  for (const problem of problems) {
    const { path, at, code, detail } = problem;
    if (at === 'key') report.add(code, detail, place.key(path));
    else if (at === 'value') report.add(code, detail, place.value(path));
    else if (place.has(path))
      report.add(code, `${String(path.at(-1))} has no value, and it is required.`, place.key(path));
    else {
      const owner = JSON.stringify(path.slice(0, -1));
      missing.set(owner, [...(missing.get(owner) ?? []), problem]);
    }
  }
  for (const group of missing.values()) {
    const [first] = group;
    if (!first) continue;
    const names = group.map(({ path }) => String(path.at(-1)));
    const detail = group.length === 1 ? first.detail : `The fields ${oneOf(names, 'and')} are required. Add them.`;
    report.add(first.code, detail, place.object(first.path.slice(0, -1)));
  }
}

function named({ draft, place }: EntityContext, section: 'alert_rules' | 'indicators'): Named[] {
  return (draft[section] ?? []).flatMap((item, i) =>
    item?.name === undefined ? [] : [{ name: item.name, source: place.object([section, i]) }],
  );
}

function checkDataSource({ draft, place, report }: EntityContext): void {
  if (draft.data_source === undefined || draft.data_source_id === undefined) return;
  const detail = 'The alert manager has both data_source and data_source_id. The id decides; leave out one of them.';
  report.add('entity/data-source', detail, place.key(['data_source_id']));
}

/** An optional field without a value (`tags:`) counts as absent. Free maps keep theirs: there it is a mistake. */
function dropEmptyFields(value: unknown): void {
  const entity = dropNulls(value);
  if (!entity) return;
  dropNulls(entity['adhoc_filter']);
  for (const section of ['indicators', 'alert_rules', 'links', 'notification_channels']) {
    const items = entity[section];
    if (!Array.isArray(items)) continue;
    for (const item of items) dropNulls(dropNulls(item)?.['runbook']);
  }
}

/** Removes the fields of a mapping that have no value; undefined for anything else. */
export function dropNulls(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields = value as Record<string, unknown>;
  for (const key of Object.keys(fields)) if (fields[key] === null) delete fields[key];
  return fields;
}
