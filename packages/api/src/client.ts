/** A typed client of API v4. `fetch`, clock, randomness and sleep are passed in; it writes nothing anywhere. */
import type { AlertRuleDocument } from './alert-rules.ts';
import { type AlertsClient, createAlertsClient } from './client/alerts.ts';
import {
  type ReadAlertRule,
  type ReadChannelRow,
  type ReadDataSource,
  type ReadEntity,
  type ReadKpi,
  read,
  readAlertRule,
  readChannelRow,
  readDataSource,
  readEntity,
  readKpi,
  readList,
  readListIn,
  readOrganization,
} from './client/answers.ts';
import { createLogsClient, type LogsClient } from './client/logs.ts';
import { createNotificationsClient, type NotificationsClient } from './client/notifications.ts';
import { type RetryPolicy, sleepFor } from './client/retry.ts';
import { type Call, type Credential, createSender, type Sender, type Sent } from './client/send.ts';
import type { Fetch } from './client/transport.ts';
import type { EntityDocument, EntityUpdate, MetadataDocument } from './entities.ts';
import type { KpiDocument } from './kpis.ts';
import type { AttachRequest } from './notification-settings.ts';
import type { Scope } from './tokens.ts';

export type { AlertsClient, RuleIds } from './client/alerts.ts';
export type {
  ReadAlertRule,
  ReadChannelRow,
  ReadDataSource,
  ReadEntity,
  ReadKpi,
  ReadMetadata,
} from './client/answers.ts';
export { ApiError, type ApiErrorCode, type ApiErrorDetail, type ApiErrorFacts } from './client/api-error.ts';
export type { LogsClient, LogTailEvent } from './client/logs.ts';
export type { NotificationsClient } from './client/notifications.ts';
export type { RetryPolicy, Sleep } from './client/retry.ts';
export type { Credential, Sent } from './client/send.ts';
export type { Fetch, HttpAnswer, HttpRequest } from './client/transport.ts';

export interface ClientOptions extends Partial<RetryPolicy> {
  readonly fetch: Fetch;
  /** Called when a scope is first needed, so that a plan never touches the write and delete credentials. */
  readonly credential: (scope: Scope) => Credential;
  /** `obsiac/0.1.0`. */
  readonly userAgent?: string;
}

/** Options of one request. */
export interface Ask {
  readonly signal?: AbortSignal | undefined;
  /** Sent as `If-Match`: the write is refused with `revision_moved` when the organisation has another revision. */
  readonly ifMatch?: number | undefined;
}

/**
 * Each method sends the least scope that its request needs and throws `ApiError`. Creations may be repeated safely: after
 * a failure that leaves it open whether the service acted, the object is looked up before it is sent again.
 */
export interface Client {
  /** Requests sent so far, retries and token exchanges included. */
  requests(): number;
  /** Revision null: the service has none (the hosted one). */
  organization(ask?: Ask): Promise<{ slug: string; revision: number | null }>;

  listEntities(ask?: Ask): Promise<Sent<ReadEntity[]>>;
  getEntity(id: string, ask?: Ask): Promise<ReadEntity>;
  createEntity(document: EntityDocument, ask?: Ask): Promise<ReadEntity>;
  updateEntity(id: string, document: EntityUpdate, ask?: Ask): Promise<ReadEntity>;
  putMetadata(id: string, document: MetadataDocument, ask?: Ask): Promise<void>;
  deleteEntity(id: string, ask?: Ask): Promise<void>;

  /** Over the whole organisation; the hosted service has no such list and answers `not_found`. */
  listKpis(ask?: Ask): Promise<Sent<ReadKpi[]>>;
  listEntityKpis(entityId: string, ask?: Ask): Promise<ReadKpi[]>;
  createKpi(entityId: string, document: KpiDocument, ask?: Ask): Promise<ReadKpi>;
  updateKpi(entityId: string, id: string, document: KpiDocument, ask?: Ask): Promise<ReadKpi>;
  deleteKpi(entityId: string, id: string, ask?: Ask): Promise<void>;

  listAlertRules(ask?: Ask): Promise<Sent<ReadAlertRule[]>>;
  listEntityAlertRules(entityId: string, ask?: Ask): Promise<ReadAlertRule[]>;
  createAlertRule(entityId: string, document: AlertRuleDocument, ask?: Ask): Promise<ReadAlertRule>;
  /** The hosted service gives the rule a new id: use the one in the answer. */
  updateAlertRule(entityId: string, id: string, document: AlertRuleDocument, ask?: Ask): Promise<ReadAlertRule>;
  deleteAlertRule(entityId: string, id: string, ask?: Ask): Promise<void>;

  /** The organisation's channels and every attachment. */
  listChannels(ask?: Ask): Promise<Sent<ReadChannelRow[]>>;
  /** Answers the row of the attachment. */
  attachChannel(channelId: string, document: AttachRequest, ask?: Ask): Promise<ReadChannelRow>;
  detachChannel(rowId: string, ask?: Ask): Promise<void>;

  listDataSources(ask?: Ask): Promise<Sent<ReadDataSource[]>>;

  readonly alerts: AlertsClient;

  readonly notifications: NotificationsClient;
  readonly logs: LogsClient;
}

export const RETRY_DEFAULTS = { maxAttempts: 6, maxTotalMs: 60_000 } as const;

/** Makes a client. No request is sent, and no credential asked for, before the first call. */
export function createClient(options: ClientOptions): Client {
  const sender = createSender({
    fetch: options.fetch,
    credential: options.credential,
    userAgent: options.userAgent ?? 'obsiac',
    policy: {
      maxAttempts: options.maxAttempts ?? RETRY_DEFAULTS.maxAttempts,
      maxTotalMs: options.maxTotalMs ?? RETRY_DEFAULTS.maxTotalMs,
      now: options.now ?? Date.now,
      random: options.random ?? Math.random,
      sleep: options.sleep ?? sleepFor,
    },
  });
  const call = caller(sender);
  return {
    requests: sender.requests,
    async organization(ask) {
      const sent = await call.get('', (json) => read(readOrganization, json), ask);
      return { slug: sent.value.slug ?? '', revision: sent.value.revision ?? sent.revision };
    },
    ...entityMethods(call),
    ...kpiMethods(call),
    ...alertRuleMethods(call),
    ...channelMethods(call),
    listDataSources: (ask) => call.get('/datasources', (json) => readList(readDataSource, json), ask),
    alerts: createAlertsClient(sender),
    notifications: createNotificationsClient(sender),
    logs: createLogsClient(sender),
  };
}

type Read<T> = (json: unknown) => T;

interface Caller {
  get<T>(path: string, reader: Read<T>, ask?: Ask): Promise<Sent<T>>;
  value<T>(path: string, reader: Read<T>, ask?: Ask): Promise<T>;
  /** Looks something up within the retries of another request, so without its own. */
  lookUp<T>(path: string, reader: Read<T>, ask: Ask): Promise<T>;
  /** `recover` looks for what an attempt without an answer may have made. */
  create<T>(path: string, body: unknown, reader: Read<T>, ask: Ask, recover: () => Promise<T | undefined>): Promise<T>;
  put<T>(path: string, body: unknown, reader: Read<T>, ask?: Ask): Promise<T>;
  remove(path: string, scope: Scope, ask?: Ask): Promise<void>;
}

function caller(sender: Sender): Caller {
  const send = async <T>(call: Call<T>, ask: Ask = {}): Promise<Sent<T>> => sender.send({ ...call, ...ask });
  return {
    get: (path, reader, ask) => send({ method: 'GET', path, scope: 'read', read: reader }, ask),
    value: async (path, reader, ask) => (await send({ method: 'GET', path, scope: 'read', read: reader }, ask)).value,
    lookUp: async (path, reader, { signal }) =>
      (await send({ method: 'GET', path, scope: 'read', read: reader, once: true }, { signal })).value,
    create: async (path, body, reader, ask, recover) =>
      (await send({ method: 'POST', path, scope: 'write', body, read: reader, recover }, ask)).value,
    put: async (path, body, reader, ask) =>
      (await send({ method: 'PUT', path, scope: 'write', body, read: reader }, ask)).value,
    remove: async (path, scope, ask) => {
      await send({ method: 'DELETE', path, scope, read: () => undefined }, ask);
    },
  };
}

const part = encodeURIComponent;
const nothing = (): void => undefined;
const asEntity: Read<ReadEntity> = (json) => read(readEntity, json);
const asKpi: Read<ReadKpi> = (json) => read(readKpi, json);
const asRule: Read<ReadAlertRule> = (json) => read(readAlertRule, json);
const asRow: Read<ReadChannelRow> = (json) => read(readChannelRow, json);

type EntityMethods = Pick<
  Client,
  'listEntities' | 'getEntity' | 'createEntity' | 'updateEntity' | 'putMetadata' | 'deleteEntity'
>;

function entityMethods(call: Caller): EntityMethods {
  const entities: Read<ReadEntity[]> = (json) => readListIn('entities', readEntity, json);
  return {
    listEntities: (ask) => call.get('/entities', entities, ask),
    getEntity: (id, ask) => call.value(`/entities/${part(id)}`, asEntity, ask),
    createEntity: (document, ask = {}) =>
      call.create('/entities', document, asEntity, ask, async () => {
        const path = `/entities?external_ref=${part(document.external_ref)}`;
        const found = await call.lookUp(path, entities, ask);
        return found.find((entity) => entity.external_ref === document.external_ref);
      }),
    updateEntity: (id, document, ask) => call.put(`/entities/${part(id)}`, document, asEntity, ask),
    putMetadata: (id, document, ask) => call.put(`/entities/${part(id)}/metadata`, document, nothing, ask),
    deleteEntity: (id, ask) => call.remove(`/entities/${part(id)}`, 'delete', ask),
  };
}

type KpiMethods = Pick<Client, 'listKpis' | 'listEntityKpis' | 'createKpi' | 'updateKpi' | 'deleteKpi'>;

function kpiMethods(call: Caller): KpiMethods {
  const of = (entityId: string): string => `/entities/${part(entityId)}/kpis`;
  const kpis: Read<ReadKpi[]> = (json) => readList(readKpi, json);
  return {
    listKpis: (ask) => call.get('/kpis', kpis, ask),
    listEntityKpis: (entityId, ask) => call.value(of(entityId), kpis, ask),
    createKpi: (entityId, document, ask = {}) =>
      call.create(of(entityId), document, asKpi, ask, async () => {
        const found = await call.lookUp(of(entityId), kpis, ask);
        return found.find((kpi) => kpi.name === document.name);
      }),
    updateKpi: (entityId, id, document, ask) => call.put(`${of(entityId)}/${part(id)}`, document, asKpi, ask),
    deleteKpi: (entityId, id, ask) => call.remove(`${of(entityId)}/${part(id)}`, 'delete', ask),
  };
}

type AlertRuleMethods = Pick<
  Client,
  'listAlertRules' | 'listEntityAlertRules' | 'createAlertRule' | 'updateAlertRule' | 'deleteAlertRule'
>;

function alertRuleMethods(call: Caller): AlertRuleMethods {
  const of = (entityId: string): string => `/entities/${part(entityId)}/alert-rules`;
  const rules: Read<ReadAlertRule[]> = (json) => readListIn('rules', readAlertRule, json);
  return {
    listAlertRules: (ask) => call.get('/alert-rules', (json) => readList(readAlertRule, json), ask),
    listEntityAlertRules: (entityId, ask) => call.value(of(entityId), rules, ask),
    createAlertRule: (entityId, document, ask = {}) =>
      call.create(of(entityId), document, asRule, ask, async () => {
        const found = await call.lookUp(of(entityId), rules, ask);
        return found.find((rule) => rule.rule_name === document.rule_name);
      }),
    updateAlertRule: (entityId, id, document, ask) => call.put(`${of(entityId)}/${part(id)}`, document, asRule, ask),
    deleteAlertRule: (entityId, id, ask) => call.remove(`${of(entityId)}/${part(id)}`, 'delete', ask),
  };
}

type ChannelMethods = Pick<Client, 'listChannels' | 'attachChannel' | 'detachChannel'>;

function channelMethods(call: Caller): ChannelMethods {
  const rows: Read<ReadChannelRow[]> = (json) => readList(readChannelRow, json);
  const sameMention = (row: ReadChannelRow, document: AttachRequest): boolean =>
    document.mention === undefined || JSON.stringify(row.mention ?? []) === JSON.stringify(document.mention);
  return {
    listChannels: (ask) => call.get('/notification_settings?exact=true', rows, ask),
    attachChannel: (channelId, document, ask = {}) =>
      call.create(`/notification_settings/${part(channelId)}/attach`, document, asRow, ask, async () => {
        const path = `/notification_settings?entity_id=${part(document.entity_id)}`;
        const found = await call.lookUp(path, rows, ask);
        const ours = (row: ReadChannelRow): boolean =>
          row.service_fqid === document.entity_id && row.severity === document.severity && row.parent_id === channelId;
        return found.find((row) => ours(row) && sameMention(row, document));
      }),
    // Detaching needs the write token, as in existing clients of this API; every other DELETE the delete token.
    detachChannel: (rowId, ask) => call.remove(`/notification_settings/${part(rowId)}/attach`, 'write', ask),
  };
}
