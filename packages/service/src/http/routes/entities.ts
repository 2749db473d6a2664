/** Entities (alert managers): the document, its metadata, and the whole-group snooze. */
import {
  entity,
  entityDocument,
  entityList,
  entityListQuery,
  entityUpdate,
  metadata,
  metadataDocument,
  snoozeRequest,
  snoozeState,
} from '@obsiac/api';
import { z } from 'zod';
import {
  createEntity,
  deleteEntity,
  pageOfEntities,
  putMetadata,
  requireEntity,
  snoozeEntity,
  toEntity,
  updateEntity,
} from '../../metadata/entities.ts';
import { guarded } from '../../metadata/store.ts';
import { type Api, type Context, DELETE, READ, reads, SUCCESS, success, WRITE, write, writes } from '../api.ts';
import { identityOf } from '../authentication.ts';
import { pagesOf, sendList } from '../json-list.ts';

const tags = ['Entities'];
const params = z.object({ org: z.string(), entity: z.string() });

export function entityRoutes(app: Api, context: Context): void {
  readRoutes(app, context);
  writeRoutes(app, context);
  metadataRoutes(app, context);
  snoozeRoutes(app, context);
}

function readRoutes(app: Api, { store }: Context): void {
  app.get(
    '/entities',
    {
      config: READ,
      schema: {
        tags,
        summary: 'List entities',
        description: 'All of them, or those with exactly this `external_ref` or `entity_class`. No pages.',
        querystring: entityListQuery,
        response: reads(entityList, 'bad_request'),
      },
    },
    async (request, reply) => {
      const { organizationId } = identityOf(request);
      const pages = pagesOf<string>((after, limit) =>
        guarded(store, () => pageOfEntities(store.db, organizationId, request.query, after, limit)),
      );
      return sendList(reply, '{"entities":[', ']}', pages);
    },
  );
  app.get(
    '/entities/:entity',
    {
      config: READ,
      schema: { tags, summary: 'Read an entity with its metadata', params, response: reads(entity, 'not_found') },
    },
    async (request) => {
      const { organizationId } = identityOf(request);
      return toEntity(await guarded(store, () => requireEntity(store.db, organizationId, request.params.entity)));
    },
  );
}

function writeRoutes(app: Api, context: Context): void {
  app.post(
    '/entities',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Create an entity',
        description:
          'Inline `indicators` become its KPIs. Team, tags, labels, links and the ad-hoc filter belong to the metadata document, channels to attachments; both are ignored here.',
        body: entityDocument,
        response: writes(entity, 'duplicate_external_ref', 'duplicate_name'),
      },
    },
    (request) => write(context, request, (change) => createEntity(change, request.body)),
  );
  app.put(
    '/entities/:entity',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Replace an entity',
        description:
          'The id, the metadata, the KPIs and the rules stay. Without `external_ref` it keeps the one it has.',
        params,
        body: entityUpdate,
        response: writes(entity, 'not_found', 'duplicate_external_ref'),
      },
    },
    (request) => write(context, request, (change) => updateEntity(change, request.params.entity, request.body)),
  );
  app.delete(
    '/entities/:entity',
    {
      config: DELETE,
      schema: {
        tags,
        summary: 'Delete an entity',
        description: 'Its KPIs, rules and channel attachments go with it.',
        params,
        response: writes(success, 'not_found'),
      },
    },
    async (request) => {
      await write(context, request, (change) => deleteEntity(change, request.params.entity));
      return SUCCESS;
    },
  );
}

function metadataRoutes(app: Api, context: Context): void {
  app.put(
    '/entities/:entity/metadata',
    {
      config: WRITE,
      schema: {
        tags,
        summary: "Replace an entity's metadata document",
        params,
        body: metadataDocument,
        response: writes(metadata, 'not_found'),
      },
    },
    (request) => write(context, request, (change) => putMetadata(change, request.params.entity, request.body)),
  );
}

function snoozeRoutes(app: Api, context: Context): void {
  const { store } = context;
  app.get(
    '/entities/:entity/snooze',
    {
      config: READ,
      schema: { tags, summary: 'Read the snooze of an entity', params, response: reads(snoozeState, 'not_found') },
    },
    async (request) => {
      const { organizationId } = identityOf(request);
      const row = await guarded(store, () => requireEntity(store.db, organizationId, request.params.entity));
      return { alert_snoozed_until: row.snoozed_until };
    },
  );
  app.post(
    '/entities/:entity/alert-rules/snooze',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Mute all rules of an entity until a time',
        description: '`until` is in unix seconds; 0 ends the snooze.',
        params,
        body: snoozeRequest,
        response: writes(snoozeState, 'not_found'),
      },
    },
    async (request) => {
      await write(context, request, (change) => snoozeEntity(change, request.params.entity, request.body.until));
      return { alert_snoozed_until: request.body.until };
    },
  );
}
