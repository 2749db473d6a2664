/** Data sources: where the PromQL of indicators goes. */
import { dataSource, dataSourceDocument, dataSourceList, dataSourceUpdate } from '@obsiac/api';
import { z } from 'zod';
import { createDataSource, deleteDataSource, listDataSources, updateDataSource } from '../../metadata/data-sources.ts';
import { guarded } from '../../metadata/store.ts';
import { type Api, type Context, DELETE, READ, reads, SUCCESS, success, WRITE, write, writes } from '../api.ts';
import { identityOf } from '../authentication.ts';

const tags = ['Data sources'];
const params = z.object({ org: z.string(), id: z.string() });

export function dataSourceRoutes(app: Api, context: Context): void {
  readAndCreate(app, context);
  changeAndDelete(app, context);
}

function readAndCreate(app: Api, context: Context): void {
  const { store } = context;
  app.get(
    '/datasources',
    {
      config: READ,
      schema: {
        tags,
        summary: 'List data sources',
        description: 'Passwords, tokens and header values are masked.',
        response: reads(dataSourceList),
      },
    },
    (request) => guarded(store, () => listDataSources(store.db, identityOf(request).organizationId, store.vault)),
  );
  app.post(
    '/datasources',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Create a data source',
        description: 'The flavours `embedded` and `logs` are the service itself and have no address.',
        body: dataSourceDocument,
        response: writes(dataSource, 'duplicate_name'),
      },
    },
    (request) => write(context, request, (change) => createDataSource(change, request.body)),
  );
}

function changeAndDelete(app: Api, context: Context): void {
  app.put(
    '/datasources/:id',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Replace a data source',
        description: 'A secret sent as its mask stays as it is. A name that entities or KPIs use cannot change.',
        params,
        body: dataSourceUpdate,
        response: writes(dataSource, 'not_found', 'duplicate_name', 'in_use'),
      },
    },
    (request) => write(context, request, (change) => updateDataSource(change, request.params.id, request.body)),
  );
  app.delete(
    '/datasources/:id',
    {
      config: DELETE,
      schema: {
        tags,
        summary: 'Delete a data source',
        description: 'Refused while it is the default or an entity or a KPI names it.',
        params,
        response: writes(success, 'not_found', 'in_use'),
      },
    },
    async (request) => {
      await write(context, request, (change) => deleteDataSource(change, request.params.id));
      return SUCCESS;
    },
  );
}
