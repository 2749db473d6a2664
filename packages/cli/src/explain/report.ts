/** Gathers all that there is to say about a rule. */
import {
  type AlertEpisode,
  type AlertHistory,
  type AlertsClient,
  ApiError,
  type RuleEvaluation,
  type RuleEvaluations,
  type RuleStateAnswer,
} from '@obsiac/api';
import { type Actual, childAddress, dataSourceOf, type Entity, expandQuery, type Indicator } from '@obsiac/model';
import type { FoundRule, Standing } from './find-rule.ts';
import { ruleSentences } from './sentence.ts';

const DAY = 86_400;

export interface ExplainedChannel {
  readonly name: string;
  /** Empty when it is not known. */
  readonly type: string;
  readonly mention: readonly string[];
}

/** What is known of the rule in the service. */
export interface RuleRecord {
  /** Unix seconds by the clock of the service. */
  readonly now: number;
  readonly state: RuleStateAnswer;
  readonly last: AlertEpisode | null;
  readonly week: Pick<AlertHistory, 'total' | 'firing_seconds'>;
  readonly month: Pick<AlertHistory, 'total' | 'firing_seconds'>;
  readonly evaluations: readonly RuleEvaluation[];
  readonly cost: RuleCost | null;
  readonly lastError: RuleEvaluation | null;
  readonly missing: readonly string[];
}

/** Means of the last evaluations that went well. */
export interface RuleCost {
  readonly evaluations: number;
  readonly series: number;
  readonly samples: number;
  /** Milliseconds. */
  readonly duration: number;
  /** Of the time of its data source; null when it is not known. */
  readonly share: number | null;
  readonly shared_by: number;
}

export interface ExplainReport {
  readonly found: FoundRule;
  readonly address: string;
  readonly sentences: readonly string[];
  readonly indicator: Indicator | undefined;
  /** With filters and variables filled in. */
  readonly query: string;
  /** Why there is no such query; empty when there is. */
  readonly queryProblem: string;
  /** Name of the data source; empty when nothing names one. */
  readonly dataSource: string;
  readonly channels: readonly ExplainedChannel[];
  /** Null: the service does not have the rule, or does not tell. */
  readonly record: RuleRecord | null;
}

export async function explainRule(
  found: FoundRule,
  actual: Actual | null,
  client: AlertsClient | null,
  signal: AbortSignal,
): Promise<ExplainReport> {
  const { entity, rule } = found;
  const record = found.ids && client ? await readRecord(client, found.ids, signal) : null;
  const name = rule.pattern?.indicator ?? rule.indicator;
  const indicator = entity.indicators.find((each) => each.name === name);
  const expanded = indicator && expandQuery(indicator, entity, rule);
  return {
    found,
    address: childAddress(entity.external_ref, 'alert_rule', rule.name),
    sentences: ruleSentences(rule, indicator, record?.state.recover_minutes ?? null),
    indicator,
    query: expanded?.ok ? expanded.query : (indicator?.query ?? ''),
    queryProblem: problemOf(name, expanded),
    dataSource: dataSourceName(indicator, entity, actual, record),
    channels: channelsOf(entity, rule.severity, actual),
    record,
  };
}

function problemOf(name: string, expanded: ReturnType<typeof expandQuery> | undefined): string {
  if (expanded === undefined) return `There is no indicator ${JSON.stringify(name)}.`;
  return expanded.ok ? '' : `It cannot be read: ${expanded.problems[0]?.message ?? ''}`;
}

function dataSourceName(
  indicator: Indicator | undefined,
  entity: Entity,
  actual: Actual | null,
  record: RuleRecord | null,
): string {
  const named = indicator === undefined ? entity.data_source : dataSourceOf(indicator, entity);
  if (record?.state.data_source) return record.state.data_source;
  const byId = (id: string) => actual?.data_sources.find((source) => source.id === id)?.name;
  if (named !== '') return byId(named) ?? named;
  if (entity.data_source_id !== '') return byId(entity.data_source_id) ?? entity.data_source_id;
  return actual?.data_sources.find(({ is_default }) => is_default)?.name ?? '';
}

function channelsOf(entity: Entity, severity: string, actual: Actual | null): ExplainedChannel[] {
  return entity.notification_channels
    .filter((binding) => binding.severity === severity)
    .map(({ name, type, mention }) => ({
      name,
      type: actual?.channels.find((channel) => channel.name === name)?.type ?? type ?? '',
      mention,
    }));
}

/** Null where the service has no such lists (the hosted one). */
async function readRecord(
  client: AlertsClient,
  ids: NonNullable<FoundRule['ids']>,
  signal: AbortSignal,
): Promise<RuleRecord | null> {
  const ask = { signal };
  try {
    const [state, evaluations, month] = await Promise.all([
      client.state(ids, { limit: 20 }, ask),
      client.evaluations(ids, ask),
      // Without a range: the last 30 days by the clock of the service.
      client.history(ids, { limit: 0 }, ask),
    ]);
    const [week, last] = await Promise.all([
      client.history(ids, { from: month.to - 7 * DAY, to: month.to, limit: 0 }, ask),
      lastEpisode(client, ids, month.last_fired_at, ask),
    ]);
    const { evaluations: entries } = evaluations;
    return {
      now: month.to,
      state,
      last,
      week,
      month,
      evaluations: entries,
      cost: costOf(evaluations),
      lastError: entries.find(({ error }) => error !== null) ?? null,
      missing: state.incomplete.map(({ message }) => message),
    };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return null;
    throw error;
  }
}

/** Whenever it was. */
async function lastEpisode(
  client: AlertsClient,
  ids: NonNullable<FoundRule['ids']>,
  firedAt: number | null,
  ask: { readonly signal: AbortSignal },
): Promise<AlertEpisode | null> {
  if (firedAt === null) return null;
  const { episodes } = await client.history(ids, { from: firedAt - 60, limit: 1 }, ask);
  return episodes[0] ?? null;
}

function costOf({ evaluations, source_share: share, shared_by }: RuleEvaluations): RuleCost | null {
  const good = evaluations.filter(({ error }) => error === null);
  if (good.length === 0) return null;
  const mean = (value: (entry: RuleEvaluation) => number) =>
    good.reduce((sum, entry) => sum + value(entry), 0) / good.length;
  return {
    evaluations: good.length,
    series: mean(({ series }) => series),
    samples: mean(({ samples }) => samples),
    duration: mean(({ duration }) => duration * 1000),
    share,
    shared_by,
  };
}

export const STANDINGS: Readonly<Record<Standing, string>> = {
  applied: 'In the model and in the service, alike.',
  changed: 'In the model and in the service, but not alike: this is the model. "plan" shows the difference.',
  not_applied: 'In the model only: it is not applied yet.',
  service_only: 'In the service.',
  model_only: 'In the model; the service was not asked (-c).',
};
