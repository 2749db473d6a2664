/** `/api/v1/rules` and `/api/v1/alerts` in Prometheus' shape, so that Grafana shows the rules and alerts of an organisation. */
import type { Incomplete } from '@obsiac/api';
import { type LabelMatcher, matchersOf, parse, unwrap } from '@obsiac/promql';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { type PrometheusRulesQuery, readPrometheusAlerts, readPrometheusRules } from '../../alert-states/index.ts';
import { Refusal } from '../../refusal.ts';
import { type Api, type Context, READ } from '../api.ts';
import { identityOf } from '../authentication.ts';
import { sendList } from '../json-list.ts';
import { ApiFailure, answerFailure } from './prometheus-answers.ts';
import { identify, tokenOf } from './prometheus-authentication.ts';
import { badParameter, Parameters, problemsOf } from './prometheus-parameters.ts';

/** A client of the service's own metrics looks for rules beside them; they are the same everywhere. */
const PREFIXES = ['/api/v1', '/prometheus/:source/api/v1'];

/** @param limit counts a request against its token's limit, once that is known */
export function prometheusAlertRoutes(app: Api, context: Context, limit: onRequestHookHandler): void {
  app.setErrorHandler((error: Error, request, reply) => answerFailure(error, request, reply));
  app.addHook('onRequest', async (request) => {
    const token = tokenOf(request);
    if (token === undefined) {
      throw new Refusal(
        'no_credentials',
        'Send a token of scope read: as Bearer, or as the password of Basic authorization.',
      );
    }
    request.identity = await identify(context.store, context.tokens, token, READ.scopes);
  });
  app.addHook('onRequest', limit);
  const options = { config: READ, schema: { hide: true } };
  for (const prefix of PREFIXES) {
    app.get(`${prefix}/rules`, options, (request, reply) => sendRules(context, request, reply));
    app.get(`${prefix}/alerts`, options, (request, reply) => sendAlerts(context, request, reply));
  }
}

async function sendAlerts(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { alerts, incomplete } = await readPrometheusAlerts(context, identityOf(request), request.log);
  return sendList(reply, '{"status":"success","data":{"alerts":[', `]}${warningsOf(incomplete)}}`, alerts);
}

async function sendRules(context: Context, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const parameters = new Parameters(request);
  const query = readQuery(parameters);
  const paging = { limit: parameters.limit('group_limit'), token: parameters.text('group_next_token') };
  if (paging.token !== '' && paging.limit === 0) {
    throw new ApiFailure('bad_data', 'group_limit needs to be present in order to paginate over the groups');
  }
  const answer = await readPrometheusRules(context, identityOf(request), query, paging, request.log);
  if (!answer) {
    throw new ApiFailure('bad_data', `invalid group_next_token '${paging.token}'. were rule groups changed?`);
  }
  const next = answer.nextToken === undefined ? '' : `,"groupNextToken":${JSON.stringify(answer.nextToken)}`;
  const tail = `]${next}}${warningsOf(answer.incomplete)}}`;
  return sendList(reply, '{"status":"success","data":{"groups":[', tail, answer.groups);
}

function readQuery(parameters: Parameters): PrometheusRulesQuery {
  const type = parameters.text('type').toLowerCase();
  if (type !== '' && type !== 'alert' && type !== 'record') throw badParameter('type', `not supported value "${type}"`);
  return {
    type: type === '' ? undefined : type,
    ruleNames: parameters.all('rule_name[]'),
    groupNames: parameters.all('rule_group[]'),
    files: parameters.all('file[]'),
    matchers: parameters.all('match[]').map(readMatchers),
    excludeAlerts: readBoolean(parameters, 'exclude_alerts'),
  };
}

function readMatchers(text: string): readonly LabelMatcher[] {
  const result = parse(text);
  if (!result.ok) throw badParameter('match[]', problemsOf(text, result.problems));
  const selector = unwrap(result.expr);
  if (selector.kind !== 'vectorSelector') throw badParameter('match[]', `"${text}" is not a selector of series`);
  return matchersOf(selector);
}

/** As Go's `strconv.ParseBool`. */
function readBoolean(parameters: Parameters, name: string): boolean {
  const text = parameters.text(name);
  if (/^(1|t|T|TRUE|true|True)$/.test(text)) return true;
  if (/^(|0|f|F|FALSE|false|False)$/.test(text)) return false;
  throw badParameter(name, `error converting ${name}: strconv.ParseBool: parsing "${text}": invalid syntax`);
}

function warningsOf(incomplete: Incomplete): string {
  if (incomplete.length === 0) return '';
  return `,"warnings":${JSON.stringify(incomplete.map(({ message }) => message))}`;
}
