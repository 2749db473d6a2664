/** Alert states: the feed of the whole organisation, and history, state and evaluations of a rule. */
import {
  alertHistory,
  alertHistoryQuery,
  alertMonitor,
  alertMonitorQuery,
  alertSummary,
  ruleEvaluations,
  ruleStateAnswer,
  ruleStateQuery,
} from '@obsiac/api';
import { z } from 'zod';
import {
  LIVE_PATH,
  liveAnswer,
  liveQuery,
  liveRulesOf,
  readEvaluations,
  readHistory,
  readMonitor,
  readRuleState,
  readSummary,
} from '../../alert-states/index.ts';
import { type Api, type Context, READ, reads } from '../api.ts';
import { identityOf } from '../authentication.ts';
import { sendList } from '../json-list.ts';

const tags = ['Alert states'];
const params = z.object({ org: z.string(), entity: z.string(), rule: z.string() });
const OF_A_RULE = '/entities/:entity/alert-rules/:rule';

export function alertStateRoutes(app: Api, context: Context): void {
  feedRoutes(app, context);
  ruleRoutes(app, context);
  liveRoute(app, context);
}

function feedRoutes(app: Api, context: Context): void {
  app.get(
    '/alerts/monitor',
    {
      config: READ,
      schema: {
        tags,
        summary: 'List the states of alerts',
        description:
          'Every rule with its alerts: pending, firing, and resolved within the window before `timestamp`. For a moment of the past it tells what fired then.',
        querystring: alertMonitorQuery,
        response: reads(alertMonitor, 'bad_request'),
      },
    },
    async (request, reply) => {
      const feed = await readMonitor(context, identityOf(request), request.query, request.log);
      const { timestamp, window, incomplete } = feed;
      const head = `{"timestamp":${timestamp},"window":${window},"alert_rules":[`;
      return sendList(reply, head, `],"incomplete":${JSON.stringify(incomplete)}}`, feed.pages);
    },
  );
  app.get(
    '/alert-states/summary',
    {
      config: READ,
      schema: {
        tags,
        summary: 'Count alerts by alert manager',
        description: 'Rules and series of each alert manager by their state, and data sources that do not answer.',
        response: reads(alertSummary),
      },
    },
    (request) => readSummary(context, identityOf(request), request.log),
  );
}

function ruleRoutes(app: Api, context: Context): void {
  app.get(
    `${OF_A_RULE}/history`,
    {
      config: READ,
      schema: {
        tags,
        summary: 'List the episodes of an alert rule',
        description: 'Newest first; also of a rule that has been deleted.',
        params,
        querystring: alertHistoryQuery,
        response: reads(alertHistory, 'bad_request', 'not_found'),
      },
    },
    (request) => {
      const { entity: entityId, rule: ruleId } = request.params;
      const { organizationId } = identityOf(request);
      return readHistory(context.store, { organizationId, entityId, ruleId }, request.query);
    },
  );
  app.get(
    `${OF_A_RULE}/evaluations`,
    {
      config: READ,
      schema: {
        tags,
        summary: 'List the last evaluations of an alert rule',
        description: 'The last 20, newest first, each with a curl line that asks the data source the same.',
        params,
        response: reads(ruleEvaluations, 'not_found'),
      },
    },
    (request) => {
      const { entity: entityId, rule: ruleId } = request.params;
      return readEvaluations(context, { identity: identityOf(request), entityId, ruleId, log: request.log });
    },
  );
  app.get(
    `${OF_A_RULE}/state`,
    {
      config: READ,
      schema: {
        tags,
        summary: 'Read the state of an alert rule',
        description: 'Every series with its bad minutes and value; what fires comes first, then what is pending.',
        params,
        querystring: ruleStateQuery,
        response: reads(ruleStateAnswer, 'bad_request', 'not_found'),
      },
    },
    (request) => {
      const { entity: entityId, rule: ruleId } = request.params;
      const { log } = request;
      return readRuleState(context, { identity: identityOf(request), entityId, ruleId, log }, request.query);
    },
  );
}

/** For the other processes of the service: what this one alone knows. It asks nobody else. */
function liveRoute(app: Api, { evaluator }: Context): void {
  app.get(
    LIVE_PATH,
    { config: READ, schema: { hide: true, querystring: liveQuery, response: reads(liveAnswer, 'bad_request') } },
    async (request) => {
      if (!evaluator) return { id: '', rules: [], outages: [] };
      return liveRulesOf(evaluator, identityOf(request).organizationId, request.query);
    },
  );
}
