/** A rule as the evaluator runs it: its rows of the store read into a query, a condition and a window. */
import { createHash } from 'node:crypto';
import {
  type AlertingRule,
  expandQuery,
  MACROS,
  type Macro,
  type MissingPolicy,
  type ThresholdOperator,
  worstOf,
} from '@obsiac/model';
import type { ResolvedSource } from '../data-source/sources.ts';
import type { AlertRuleRow, EntityRow, KpiRow } from '../metadata/tables.ts';
import { type Condition, parseCondition } from '../rules/condition.ts';
import { shardOf } from './shards.ts';

export interface EvaluatedRule {
  readonly row: AlertRuleRow;
  readonly entity: EntityRow;
  readonly shard: number;
  readonly kpi: KpiRow;
  /** The text that goes to the data source, filters and variables filled in. */
  readonly query: string;
  readonly source: ResolvedSource;
  readonly condition: { readonly operator: ThresholdOperator; readonly threshold: number };
  readonly pattern: { readonly macro: Macro; readonly tolerance: number } | undefined;
  readonly alerting: AlertingRule;
}

/** A rule that cannot be evaluated as it stands, and why. */
export interface UnusableRule {
  readonly row: AlertRuleRow;
  readonly entity: EntityRow;
  readonly shard: number;
  readonly problem: string;
}

export interface RuleRows {
  readonly row: AlertRuleRow;
  readonly entity: EntityRow;
  /** The indicators of the entity by name. */
  readonly kpis: ReadonlyMap<string, KpiRow>;
}

export interface WindowOptions {
  readonly recoverMinutes: number;
  readonly missing: MissingPolicy;
}

const OPERATORS: Readonly<Record<Condition['operator'], ThresholdOperator>> = {
  '>': 'greater_than',
  '>=': 'greater_than_eq',
  '<': 'less_than',
  '<=': 'less_than_eq',
  '==': 'equal_to',
  '!=': 'not_equal',
};

/** @param resolve finds the data source of an indicator, or says why there is none */
export function readRule(
  rows: RuleRows,
  options: WindowOptions,
  resolve: (kpi: KpiRow, entity: EntityRow) => ResolvedSource | { readonly problem: string },
): EvaluatedRule | UnusableRule {
  const { row, entity } = rows;
  const shard = shardOf(entity.id);
  const unusable = (problem: string): UnusableRule => ({ row, entity, shard, problem });
  const pattern = patternOf(row);
  const name = row.pattern_indicator || row.primary_indicator;
  const kpi = rows.kpis.get(name);
  if (!kpi) return unusable(`There is no indicator "${name}" in "${entity.name}".`);
  const condition = parseCondition(row.condition);
  if (!condition) return unusable(`The condition "${row.condition}" cannot be read.`);
  const source = resolve(kpi, entity);
  if ('problem' in source) return unusable(source.problem);
  const expanded = expandQuery(
    { query: kpi.query, data_source: kpi.data_source },
    { adhoc_filter: adhocFilterOf(entity), data_source: entity.data_source },
    { label_filter: variablesOf(row, kpi.name) },
  );
  if (!expanded.ok)
    return unusable(`The query of "${kpi.name}" cannot be read: ${expanded.problems[0]?.message ?? ''}`);
  const operator = OPERATORS[condition.operator];
  const { query } = expanded;
  return {
    row,
    entity,
    shard,
    kpi,
    query,
    source,
    condition: { operator, threshold: condition.threshold },
    pattern,
    alerting: {
      id: row.id,
      definition: digest([source.id, query, pattern ?? null, operator, condition.threshold]),
      badMinutes: row.bad_minutes,
      totalMinutes: row.eval_window,
      recoverMinutes: options.recoverMinutes,
      missing: options.missing,
      worst: pattern ? worstOfMacro(pattern.macro) : worstOf(operator),
    },
  };
}

/** Made of what decides which series there are and how they are judged, not of names and texts. */
function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

function worstOfMacro(macro: Macro): AlertingRule['worst'] {
  return macro.startsWith('low') || macro.startsWith('decreasing') ? 'least' : 'greatest';
}

const CALL = /^\s*([a-z_]+)\s*\(\s*([^,]*?)\s*,/;

function patternOf(row: AlertRuleRow): EvaluatedRule['pattern'] {
  if (row.algorithm === 'static_threshold') return undefined;
  const [, name, tolerance] = CALL.exec(row.expression) ?? [];
  const macro = MACROS.find((known) => known === name);
  return macro && { macro, tolerance: Number(tolerance) };
}

function adhocFilterOf(entity: EntityRow): Parameters<typeof expandQuery>[1]['adhoc_filter'] {
  const { adhoc_filter } = JSON.parse(entity.metadata) as {
    adhoc_filter?: { data_source?: string; labels?: Record<string, string> } | null;
  };
  if (!adhoc_filter?.labels) return null;
  return { data_source: adhoc_filter.data_source || entity.data_source, labels: adhoc_filter.labels };
}

function variablesOf(row: AlertRuleRow, indicator: string): Record<string, string> {
  const args = JSON.parse(row.expression_args) as Record<string, { variables?: Record<string, string> | null }>;
  return args[indicator]?.variables ?? {};
}
