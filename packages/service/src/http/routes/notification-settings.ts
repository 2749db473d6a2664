/** Notification channels of the organisation, and their attachment to entities. */
import { attachRequest, channelDocument, channelList, channelListQuery, channelRow } from '@obsiac/api';
import { z } from 'zod';
import { attachChannel, detachEntity, detachRow } from '../../metadata/attachments.ts';
import { listChannels, pageOfAttachments } from '../../metadata/channel-rows.ts';
import { createChannel, deleteChannel, updateChannel } from '../../metadata/channels.ts';
import { guarded } from '../../metadata/store.ts';
import { Refusal } from '../../refusal.ts';
import { type Api, type Context, DELETE, DETACH, READ, reads, SUCCESS, success, WRITE, write, writes } from '../api.ts';
import { identityOf } from '../authentication.ts';
import { pagesOf, sendList } from '../json-list.ts';

const tags = ['Notification channels'];
const id = z.coerce.number().int().positive();
const params = z.object({ org: z.string(), id });

export function notificationSettingRoutes(app: Api, context: Context): void {
  listRoute(app, context);
  writeRoutes(app, context);
  attachRoute(app, context);
  detachRoute(app, context);
}

function listRoute(app: Api, { store }: Context): void {
  app.get(
    '/notification_settings',
    {
      config: READ,
      schema: {
        tags,
        summary: 'List notification channels',
        description:
          "The organisation's channels; with `entity_id` also that entity's attachments, with `exact=true` all attachments. Destinations are masked.",
        querystring: channelListQuery,
        response: reads(channelList, 'bad_request'),
      },
    },
    async (request, reply) => {
      const { organizationId } = identityOf(request);
      const { entity_id, exact } = request.query;
      const rows = async function* () {
        yield await guarded(store, () => listChannels(store.db, organizationId, store.vault));
        if (entity_id === undefined && exact !== 'true') return;
        yield* pagesOf<number>((after, limit) =>
          guarded(store, () => pageOfAttachments(store.db, organizationId, entity_id, store.vault, after, limit)),
        );
      };
      return sendList(reply, '[', ']', rows());
    },
  );
}

function writeRoutes(app: Api, context: Context): void {
  app.post(
    '/notification_settings',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Create a notification channel',
        description: 'The type is matched without regard to case. The destination is kept sealed.',
        body: channelDocument,
        response: writes(channelRow, 'duplicate_name'),
      },
    },
    (request) => write(context, request, (change) => createChannel(change, request.body)),
  );
  app.put(
    '/notification_settings/:id',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Replace a notification channel',
        description: 'A destination or header value sent as its mask stays as it is.',
        params,
        body: channelDocument,
        response: writes(channelRow, 'not_found', 'duplicate_name'),
      },
    },
    (request) => write(context, request, (change) => updateChannel(change, request.params.id, request.body)),
  );
}

function attachRoute(app: Api, context: Context): void {
  app.post(
    '/notification_settings/:id/attach',
    {
      config: WRITE,
      preValidation: async (request) => requireSeverity(request.body),
      schema: {
        tags,
        summary: 'Attach a channel to an entity for a severity',
        description: 'Answers with the attachment, a row with an id of its own. Attaching again keeps that row.',
        params,
        body: attachRequest,
        response: writes(channelRow, 'not_found', 'severity_required'),
      },
    },
    (request) => write(context, request, (change) => attachChannel(change, request.params.id, request.body)),
  );
}

/** Clients know this refusal by its exact words. */
function requireSeverity(body: unknown): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
  if ('severity' in body && body.severity !== '' && body.severity !== null) return;
  throw new Refusal('severity_required', 'severity required', {
    details: [{ path: 'body.severity', message: 'is required: breach or threat' }],
  });
}

function detachRoute(app: Api, context: Context): void {
  app.delete(
    '/notification_settings/:id/attach',
    {
      config: DETACH,
      schema: {
        tags,
        summary: 'Detach a channel from an entity',
        description:
          'With `entity_id` the id is that of the channel and every severity is detached; without, it is that of the attachment. Takes a write or a delete token.',
        params,
        querystring: z.object({ entity_id: z.string().min(1).optional() }),
        response: writes(success, 'not_found'),
      },
    },
    async (request) => {
      const { entity_id } = request.query;
      await write(context, request, (change) =>
        entity_id === undefined
          ? detachRow(change, request.params.id)
          : detachEntity(change, request.params.id, entity_id),
      );
      return SUCCESS;
    },
  );
}

/** The one path of the API without a version and with the organisation twice: known clients delete channels there. */
export function channelDeleteRoute(app: Api, context: Context): void {
  app.delete(
    '/workspace/:workspace/notification_settings/:id',
    {
      config: DELETE,
      schema: {
        tags,
        summary: 'Delete a notification channel',
        description: 'Refused while it is attached. The path has no version, as known clients expect.',
        params: params.extend({ workspace: z.string() }),
        response: writes(success, 'not_found', 'in_use'),
      },
    },
    async (request) => {
      const { org, workspace } = request.params;
      if (workspace !== org) throw new Refusal('not_found', `There is no workspace "${workspace}" in "${org}".`);
      await write(context, request, (change) => deleteChannel(change, request.params.id));
      return SUCCESS;
    },
  );
}
