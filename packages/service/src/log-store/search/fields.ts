/** What a field's name stands for in SQL. A field may have several sources, such as a column and an attribute; its values are those of all. */
import { DATASETS } from '@obsiac/model';
import { quoteIdentifier } from '../../engine/index.ts';
import { COLUMNS, RENAMED_FIELDS } from '../columns.ts';
import { OTEL_FIELDS } from './otel-fields.ts';

/**
 * - `text`: String; empty is absent.
 * - `integer`, `float`: nullable numbers; null is absent.
 * - `boolean`: nullable Bool.
 * - `list`: Array(String).
 */
export interface FieldSource {
  readonly kind: 'text' | 'integer' | 'float' | 'boolean' | 'list';
  readonly sql: string;
}

/** How the cells of a column come from the engine, so that they can be turned into JSON values. */
export type CellKind = 'text' | 'integer' | 'float' | 'boolean' | 'list' | 'json';

const text = (sql: string): FieldSource => ({ kind: 'text', sql });
const integer = (sql: string): FieldSource => ({ kind: 'integer', sql });

/** A record's id as the API gives it: sixteen hex digits. */
export const ID_TEXT = "leftPad(lower(hex(id)), 16, '0')";

/** Parts of every record. Their own attributes of these names are not reached. */
const RECORD_FIELDS: ReadonlyMap<string, FieldSource> = new Map([
  ['body', text('body')],
  ['dataset', text('dataset')],
  ['service', text('service')],
  ['service.name', text('service')],
  ['severity_number', integer('severity_number')],
  ['severity_text', text('severity_text')],
  ['trace_id', text('trace_id')],
  ['span_id', text('span_id')],
  ['raw', text('raw')],
  ['part', integer('part')],
  ['id', text(ID_TEXT)],
  ['timestamp', integer('toUnixTimestamp64Nano(timestamp)')],
  ['observed_timestamp', integer('toUnixTimestamp64Nano(observed_timestamp)')],
]);

/** Fields that a record's time is made of have no column: field name to the datasets whose time they hold. */
const TIME_FIELDS: ReadonlyMap<string, readonly string[]> = timeFields();

function timeFields(): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const dataset of ['http_requests', 'firewall_events', 'dns_logs']) {
    const field = DATASETS[dataset]?.timestamp_field;
    if (field !== undefined) fields.set(field, [...(fields.get(field) ?? []), dataset]);
  }
  return fields;
}

/** Names that the engine's JSON paths give a meaning of their own, and so no attribute's. */
const UNREADABLE_PATH = /^\^|(^|\.)[:^]|`/;

/**
 * Never empty: a name that stands for nothing is an attribute that no record has. A name of 2023 stands for the field that has another name
 * since.
 */
export function fieldSources(asked: string): readonly FieldSource[] {
  const name = RENAMED_FIELDS.get(asked) ?? asked;
  const part = RECORD_FIELDS.get(name);
  if (part !== undefined) return [part];
  const column = COLUMNS.get(name);
  const quoted = quoteIdentifier(name);
  switch (column) {
    case 'keyword':
    case 'text':
      return [text(quoted)];
    case 'integer':
    case 'time':
      return [integer(quoted)];
    case 'float':
    case 'boolean':
    case 'list':
      return [{ kind: column, sql: quoted }];
    default:
      return [...otherSources(name), ...attributeSources(name)];
  }
}

function otherSources(name: string): FieldSource[] {
  const otel = OTEL_FIELDS.get(name);
  if (otel !== undefined) return [{ kind: otel.type === 'text' ? 'text' : 'integer', sql: otel.sql }];
  const datasets = TIME_FIELDS.get(name);
  if (datasets === undefined) return [];
  const list = datasets.map((dataset) => `'${dataset}'`).join(', ');
  return [integer(`if(dataset IN (${list}), toUnixTimestamp64Nano(timestamp), NULL)`)];
}

function attributeSources(name: string): FieldSource[] {
  if (name === '' || UNREADABLE_PATH.test(name)) return [text("''")];
  const path = `attributes.${quoteIdentifier(name)}`;
  const unlessTime = TIME_FIELDS.get(name);
  const scalar = `ifNull(${path}.:String, '')`;
  if (unlessTime !== undefined) {
    const list = unlessTime.map((dataset) => `'${dataset}'`).join(', ');
    return [text(`if(dataset IN (${list}), '', ${scalar})`)];
  }
  return [
    text(scalar),
    { kind: 'list', sql: `arrayMap(element -> assumeNotNull(element), ${path}.:\`Array(Nullable(String))\`)` },
  ];
}

/** How the query language writes numbers; anything else is text. */
export const NUMBER_PATTERN = '^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$';

/** The number that a text writes, null when it writes none that is finite. */
export function textAsNumber(sql: string): string {
  const number = `toFloat64OrZero(${sql})`;
  return `if(match(${sql}, '${NUMBER_PATTERN}') AND isFinite(${number}), ${number}, NULL)`;
}

/** The whole number of 64 bits that a text writes, where doubles cannot tell it from its neighbours; else 0. @param number its `textAsNumber` */
export function wholeBeyondDoubles(text: string, number: string): string {
  return `if(abs(ifNull(${number}, 0)) > ${Number.MAX_SAFE_INTEGER}, toInt64OrZero(${text}), 0)`;
}

/** The value as text, empty when absent. Not for lists. */
export function scalarAsText({ kind, sql }: FieldSource): string {
  switch (kind) {
    case 'text':
      return sql;
    case 'boolean':
      return `if(isNull(${sql}), '', if(${sql}, 'true', 'false'))`;
    default:
      return `ifNull(toString(${sql}), '')`;
  }
}

/** The value as a nullable Float64. Not for lists. */
export function scalarAsNumber({ kind, sql }: FieldSource): string {
  switch (kind) {
    case 'text':
      return textAsNumber(sql);
    case 'boolean':
      return "CAST(NULL, 'Nullable(Float64)')";
    default:
      return `toNullable(toFloat64(${sql}))`;
  }
}

/** All values of a field as Array(String), none of them absent. */
export function valuesAsTexts(sources: readonly FieldSource[]): string {
  const lists = sources.map((source) =>
    source.kind === 'list'
      ? source.sql
      : `arrayFilter(value -> value != '', [${source.kind === 'text' ? `toString(${source.sql})` : scalarAsText(source)}])`,
  );
  return lists.length === 1 ? (lists[0] as string) : `arrayConcat(${lists.join(', ')})`;
}

/** A group's text: a single value as it is, a list as JSON, empty when absent. */
export function groupText(sources: readonly FieldSource[]): string {
  const texts = sources.map((source) =>
    source.kind === 'list' ? `if(empty(${source.sql}), '', toJSONString(${source.sql}))` : scalarAsText(source),
  );
  return firstFilled(texts);
}

/** The first value there is as JSON: a text in quotes, a number, a list. Empty when absent. */
export function jsonText(sources: readonly FieldSource[]): string {
  const texts = sources.map((source) => {
    if (source.kind === 'list') return `if(empty(${source.sql}), '', toJSONString(${source.sql}))`;
    if (source.kind !== 'text') return scalarAsText(source);
    return `if(${source.sql} = '', '', toJSONString(toString(${source.sql})))`;
  });
  return firstFilled(texts);
}

/** The first of several texts that is not empty. */
export function firstFilled(texts: readonly string[]): string {
  return texts.slice(0, -1).reduceRight((rest, sql) => `if(${sql} != '', ${sql}, ${rest})`, texts.at(-1) as string);
}
