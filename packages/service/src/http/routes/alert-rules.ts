/** Alert rules of an entity and of the whole organisation. */
import { alertRule, alertRuleDocument, alertRuleList, entityAlertRules } from '@obsiac/api';
import { z } from 'zod';
import {
  createRule,
  deleteRule,
  pageOfRules,
  requireRule,
  toAlertRule,
  updateRule,
} from '../../metadata/alert-rules.ts';
import { requireEntity } from '../../metadata/entities.ts';
import { guarded, type Store } from '../../metadata/store.ts';
import { type Api, type Context, DELETE, READ, reads, SUCCESS, success, WRITE, write, writes } from '../api.ts';
import { identityOf } from '../authentication.ts';
import { pagesOf, sendList } from '../json-list.ts';

const tags = ['Alert rules'];
const inEntity = z.object({ org: z.string(), entity: z.string() });
const params = inEntity.extend({ rule: z.string() });

export function alertRuleRoutes(app: Api, context: Context): void {
  listRoutes(app, context);
  readRoute(app, context);
  writeRoutes(app, context);
}

const secondsOf = (store: Store) => Math.floor(store.now() / 1000);

function listRoutes(app: Api, { store }: Context): void {
  app.get(
    '/alert-rules',
    {
      config: READ,
      schema: { tags, summary: 'List the alert rules of the organisation', response: reads(alertRuleList) },
    },
    async (request, reply) => {
      const { organizationId } = identityOf(request);
      const now = secondsOf(store);
      const pages = pagesOf<string>((after, limit) =>
        guarded(store, () => pageOfRules(store.db, organizationId, undefined, now, after, limit)),
      );
      return sendList(reply, '[', ']', pages);
    },
  );
  app.get(
    '/entities/:entity/alert-rules',
    {
      config: READ,
      schema: {
        tags,
        summary: 'List the alert rules of an entity',
        params: inEntity,
        response: reads(entityAlertRules, 'not_found'),
      },
    },
    async (request, reply) => {
      const { organizationId } = identityOf(request);
      const { entity: id } = request.params;
      const now = secondsOf(store);
      const entity = await guarded(store, () => requireEntity(store.db, organizationId, id));
      const pages = pagesOf<string>((after, limit) =>
        guarded(store, () => pageOfRules(store.db, organizationId, id, now, after, limit)),
      );
      return sendList(reply, '{"rules":[', `],"snoozed_until":${entity.snoozed_until}}`, pages);
    },
  );
}

function readRoute(app: Api, { store }: Context): void {
  app.get(
    '/entities/:entity/alert-rules/:rule',
    { config: READ, schema: { tags, summary: 'Read an alert rule', params, response: reads(alertRule, 'not_found') } },
    async (request) => {
      const { organizationId } = identityOf(request);
      const { entity, rule } = request.params;
      const row = await guarded(store, () => requireRule(store.db, organizationId, entity, rule));
      return toAlertRule(row, secondsOf(store));
    },
  );
}

function writeRoutes(app: Api, context: Context): void {
  app.post(
    '/entities/:entity/alert-rules',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Create an alert rule',
        description: 'Its indicator must be a KPI of the entity. `condition` is given back as `expr > 100.000000`.',
        params: inEntity,
        body: alertRuleDocument,
        response: writes(alertRule, 'not_found', 'duplicate_name'),
      },
    },
    (request) =>
      write(context, request, async (change) => {
        const entity = await requireEntity(change.tx, change.organizationId, request.params.entity);
        return createRule(change, entity, request.body);
      }),
  );
  app.put(
    '/entities/:entity/alert-rules/:rule',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Replace an alert rule',
        description: 'Needs the whole document. The id stays.',
        params,
        body: alertRuleDocument,
        response: writes(alertRule, 'not_found', 'duplicate_name'),
      },
    },
    (request) =>
      write(context, request, (change) => updateRule(change, request.params.entity, request.params.rule, request.body)),
  );
  app.delete(
    '/entities/:entity/alert-rules/:rule',
    {
      config: DELETE,
      schema: { tags, summary: 'Delete an alert rule', params, response: writes(success, 'not_found') },
    },
    async (request) => {
      await write(context, request, (change) => deleteRule(change, request.params.entity, request.params.rule));
      return SUCCESS;
    },
  );
}
