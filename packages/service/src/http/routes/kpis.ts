/** KPIs: the indicators of an entity. */
import { kpi, kpiDocument, kpiList } from '@obsiac/api';
import { z } from 'zod';
import { requireEntity } from '../../metadata/entities.ts';
import { createKpi, deleteKpi, pageOfKpis, requireKpi, toKpi, updateKpi } from '../../metadata/kpis.ts';
import { guarded } from '../../metadata/store.ts';
import { type Api, type Context, DELETE, READ, reads, SUCCESS, success, WRITE, write, writes } from '../api.ts';
import { identityOf } from '../authentication.ts';
import { pagesOf, sendList } from '../json-list.ts';

const tags = ['KPIs'];
const inEntity = z.object({ org: z.string(), entity: z.string() });
const params = inEntity.extend({ kpi: z.string() });

export function kpiRoutes(app: Api, context: Context): void {
  listRoutes(app, context);
  readRoute(app, context);
  writeRoutes(app, context);
}

function listRoutes(app: Api, { store }: Context): void {
  app.get(
    '/kpis',
    { config: READ, schema: { tags, summary: 'List the KPIs of the organisation', response: reads(kpiList) } },
    async (request, reply) => {
      const { organizationId } = identityOf(request);
      const pages = pagesOf<string>((after, limit) =>
        guarded(store, () => pageOfKpis(store.db, organizationId, undefined, after, limit)),
      );
      return sendList(reply, '[', ']', pages);
    },
  );
  app.get(
    '/entities/:entity/kpis',
    {
      config: READ,
      schema: { tags, summary: 'List the KPIs of an entity', params: inEntity, response: reads(kpiList, 'not_found') },
    },
    async (request, reply) => {
      const { organizationId } = identityOf(request);
      const { entity } = request.params;
      await guarded(store, () => requireEntity(store.db, organizationId, entity));
      const pages = pagesOf<string>((after, limit) =>
        guarded(store, () => pageOfKpis(store.db, organizationId, entity, after, limit)),
      );
      return sendList(reply, '[', ']', pages);
    },
  );
}

function readRoute(app: Api, { store }: Context): void {
  app.get(
    '/entities/:entity/kpis/:kpi',
    { config: READ, schema: { tags, summary: 'Read a KPI', params, response: reads(kpi, 'not_found') } },
    async (request) => {
      const { organizationId } = identityOf(request);
      const { entity, kpi: id } = request.params;
      return toKpi(await guarded(store, () => requireKpi(store.db, organizationId, entity, id)));
    },
  );
}

function writeRoutes(app: Api, context: Context): void {
  app.post(
    '/entities/:entity/kpis',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Create a KPI',
        params: inEntity,
        body: kpiDocument,
        response: writes(kpi, 'not_found', 'duplicate_name'),
      },
    },
    (request) =>
      write(context, request, async (change) => {
        await requireEntity(change.tx, change.organizationId, request.params.entity);
        return createKpi(change, request.params.entity, request.body);
      }),
  );
  app.put(
    '/entities/:entity/kpis/:kpi',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Replace a KPI',
        description: 'The id stays. When the name changes, the rules that use the KPI follow.',
        params,
        body: kpiDocument,
        response: writes(kpi, 'not_found', 'duplicate_name'),
      },
    },
    (request) =>
      write(context, request, (change) => updateKpi(change, request.params.entity, request.params.kpi, request.body)),
  );
  app.delete(
    '/entities/:entity/kpis/:kpi',
    {
      config: DELETE,
      schema: {
        tags,
        summary: 'Delete a KPI',
        description: 'Refused while an alert rule uses it.',
        params,
        response: writes(success, 'not_found', 'in_use'),
      },
    },
    async (request) => {
      await write(context, request, (change) => deleteKpi(change, request.params.entity, request.params.kpi));
      return SUCCESS;
    },
  );
}
