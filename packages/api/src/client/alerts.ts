/** The client's side of alert states. */
import type { z } from 'zod';
import {
  type AlertHistory,
  type AlertHistoryQuery,
  type AlertMonitor,
  type AlertMonitorQuery,
  type AlertSummary,
  alertHistory,
  alertMonitor,
  alertSummary,
  type RuleEvaluations,
  type RuleStateAnswer,
  type RuleStateQuery,
  ruleEvaluations,
  ruleStateAnswer,
} from '../alerts.ts';
import { read } from './answers.ts';
import type { Sender } from './send.ts';

interface AlertsAsk {
  readonly signal?: AbortSignal | undefined;
}

/** The two ids by which the API knows a rule. */
export interface RuleIds {
  readonly entityId: string;
  readonly ruleId: string;
}

/** Reads with the read token. */
export interface AlertsClient {
  monitor(query?: AlertMonitorQuery, ask?: AlertsAsk): Promise<AlertMonitor>;
  summary(ask?: AlertsAsk): Promise<AlertSummary>;
  history(rule: RuleIds, query?: AlertHistoryQuery, ask?: AlertsAsk): Promise<AlertHistory>;
  evaluations(rule: RuleIds, ask?: AlertsAsk): Promise<RuleEvaluations>;
  state(rule: RuleIds, query?: RuleStateQuery, ask?: AlertsAsk): Promise<RuleStateAnswer>;
}

export function createAlertsClient(sender: Sender): AlertsClient {
  const get = async <Schema extends z.ZodType>(
    path: string,
    query: object,
    schema: Schema,
    { signal }: AlertsAsk = {},
  ): Promise<z.output<Schema>> => {
    const call = { method: 'GET', path: path + searchOf(query), scope: 'read', signal } as const;
    return (await sender.send({ ...call, read: (json) => read(schema, json) })).value;
  };
  const part = encodeURIComponent;
  const of = ({ entityId, ruleId }: RuleIds, what: string) =>
    `/entities/${part(entityId)}/alert-rules/${part(ruleId)}/${what}`;
  return {
    monitor: (query = {}, ask) => get('/alerts/monitor', query, alertMonitor, ask),
    summary: (ask) => get('/alert-states/summary', {}, alertSummary, ask),
    history: (rule, query = {}, ask) => get(of(rule, 'history'), query, alertHistory, ask),
    evaluations: (rule, ask) => get(of(rule, 'evaluations'), {}, ruleEvaluations, ask),
    state: (rule, query = {}, ask) => get(of(rule, 'state'), query, ruleStateAnswer, ask),
  };
}

function searchOf(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return search === '' ? '' : `?${search}`;
}
