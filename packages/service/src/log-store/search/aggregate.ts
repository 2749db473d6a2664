/** Compiles an aggregate of `stats`. Its meaning is that of `runQuery` in packages/model/src/query/run.ts. */
import type { Aggregate } from '@obsiac/model';
import {
  type CellKind,
  type FieldSource,
  fieldSources,
  scalarAsNumber,
  scalarAsText,
  textAsNumber,
  valuesAsTexts,
  wholeBeyondDoubles,
} from './fields.ts';

export interface CompiledAggregate {
  readonly sql: string;
  readonly kind: CellKind;
}

export function compileAggregate({ name, field, quantile }: Aggregate): CompiledAggregate {
  if (name === 'count' || field === null) return { sql: 'count()', kind: 'integer' };
  const sources = fieldSources(field);
  const only = sources.length === 1 && sources[0]?.kind !== 'list' ? sources[0] : undefined;
  if (name === 'uniq') {
    if (only === undefined) return { sql: `uniqExactArray(${valuesAsTexts(sources)})`, kind: 'integer' };
    const value = scalarAsText(only);
    return { sql: `uniqExactIf(${value}, ${value} != '')`, kind: 'integer' };
  }
  if (name === 'min' || name === 'max') return compileOutermost(name, sources, only);
  const values = only === undefined ? numbersOf(sources) : scalarAsNumber(only);
  const combinator = only === undefined ? 'Array' : '';
  if (name === 'sum') return { sql: `ifNull(sum${combinator}(${values}), 0)`, kind: 'float' };
  if (name === 'quantile') {
    return {
      sql: nullable(`quantileExactInclusive${combinator}(${Number(quantile)})(${values})`, only, values),
      kind: 'float',
    };
  }
  return { sql: nullable(`${name}${combinator}(${values})`, only, values), kind: 'float' };
}

/** Whole numbers of 64 bits come out to their last digit. */
function compileOutermost(
  name: 'min' | 'max',
  sources: readonly FieldSource[],
  only: FieldSource | undefined,
): CompiledAggregate {
  if (only?.kind === 'integer') return { sql: `${name}(toNullable(${only.sql}))`, kind: 'integer' };
  if (only !== undefined && only.kind !== 'text') {
    const values = scalarAsNumber(only);
    return { sql: nullable(`${name}(${values})`, only, values), kind: 'float' };
  }
  const number = textAsNumber('text');
  const numeric = `arrayFilter(text -> isNotNull(${number}), ${valuesAsTexts(sources)})`;
  const keys = `arrayMap(text -> (assumeNotNull(${number}), ${wholeBeyondDoubles('text', number)}), ${numeric})`;
  const found = `${name}Array(${keys})`;
  const double = `toString(${found}.1)`;
  // A cell of digits alone would be taken for a whole number.
  const rounded = `concat(${double}, if(abs(${found}.1) > ${Number.MAX_SAFE_INTEGER} AND position(${double}, 'e') = 0, 'e0', ''))`;
  const written = `if(${found}.2 != 0, toString(${found}.2), ${rounded})`;
  return { sql: `if(sum(length(${numeric})) = 0, '', ${written})`, kind: 'json' };
}

/** Over arrays, aggregates of nothing are 0 or not a number; over nullable values they are null already. */
function nullable(aggregate: string, only: FieldSource | undefined, values: string): string {
  if (only !== undefined) return `if(isNaN(assumeNotNull(${aggregate})), NULL, ${aggregate})`;
  return `if(sum(length(${values})) = 0, NULL, ${aggregate})`;
}

/** All values of a field that are numbers, as Array(Float64). */
function numbersOf(sources: readonly FieldSource[]): string {
  return `arrayMap(number -> assumeNotNull(number), arrayFilter(number -> isNotNull(number), arrayMap(text -> ${textAsNumber('text')}, ${valuesAsTexts(sources)})))`;
}
