/** Data sources in the store: where PromQL goes. Exactly one is the default of its organisation. */
import type { DATA_SOURCE_FLAVOURS, DataSource, DataSourceProperties, dataSourceDocument } from '@obsiac/api';
import type { Kysely } from 'kysely';
import type { z } from 'zod';
import { headerProblem } from '../data-source/http-config.ts';
import { tlsProblem } from '../data-source/tls.ts';
import { notFound, Refusal, refuseField } from '../refusal.ts';
import { maskSecret, maskValues, unmask, unmaskValues } from '../secrets/mask.ts';
import type { Vault } from '../secrets/vault.ts';
import { newId } from './ids.ts';
import type { Change } from './store.ts';
import type { DataSourceRow, Tables } from './tables.ts';

export type DataSourceInput = z.output<typeof dataSourceDocument>;
/** A PUT may leave `is_default` out: then it stays as it is. */
export type DataSourceChange = Omit<DataSourceInput, 'is_default'> & { is_default?: boolean | undefined };

interface Secrets {
  readonly password?: string | undefined;
  readonly bearer_token?: string | undefined;
  readonly headers?: Record<string, string> | undefined;
  /** Of the client certificate. */
  readonly client_key?: string | undefined;
}

/** Flavours that the service answers itself: they have no address. */
const OWN_FLAVOURS: readonly string[] = ['embedded', 'logs'] satisfies (typeof DATA_SOURCE_FLAVOURS)[number][];

/** @throws Refusal `bad_request` with the field, `duplicate_name` */
export async function createDataSource(change: Change, document: DataSourceInput): Promise<DataSource> {
  await requireFreeName(change, document.name, undefined);
  if (document.is_default) await clearDefault(change);
  const row: DataSourceRow = {
    id: newId(),
    organization_id: change.organizationId,
    ...columnsOf(change.vault, document, {}),
    is_default: document.is_default ? 1 : 0,
    created_at: change.now,
    updated_at: change.now,
  };
  await change.tx.insertInto('data_sources').values(row).execute();
  const after = toDataSource(row, change.vault);
  change.record({ action: 'create', kind: 'data_source', object_id: row.id, object_name: row.name, after });
  return after;
}

/**
 * Replaces the data source; a secret sent as its mask stays as it is.
 * @throws Refusal `not_found`, `bad_request`, `duplicate_name`, `in_use` when a used name would change
 */
export async function updateDataSource(change: Change, id: string, document: DataSourceChange): Promise<DataSource> {
  const old = await requireDataSource(change.tx, change.organizationId, id);
  if (document.name !== old.name) {
    await requireFreeName(change, document.name, id);
    await refuseUsed(change, old, 'renamed', [old.name]);
  }
  if (old.is_default === 1 && document.is_default === false) {
    throw refuseField('body.is_default', 'an organisation needs a default data source; make another one the default');
  }
  if (old.is_default === 0 && document.is_default) await clearDefault(change);
  const columns = {
    ...columnsOf(change.vault, document, secretsOf(old, change.vault)),
    is_default: (document.is_default ?? old.is_default === 1) ? 1 : 0,
    updated_at: change.now,
  };
  await change.tx.updateTable('data_sources').set(columns).where('id', '=', id).execute();
  const before = toDataSource(old, change.vault);
  const after = toDataSource({ ...old, ...columns }, change.vault);
  change.record({ action: 'update', kind: 'data_source', object_id: id, object_name: after.name, before, after });
  return after;
}

/** @throws Refusal `not_found`, `in_use` */
export async function deleteDataSource(change: Change, id: string): Promise<void> {
  const old = await requireDataSource(change.tx, change.organizationId, id);
  if (old.is_default === 1) {
    throw new Refusal('in_use', `"${old.name}" is the default data source; make another one the default first.`);
  }
  await refuseUsed(change, old, 'deleted', [old.name, old.id]);
  await change.tx.deleteFrom('data_sources').where('id', '=', id).execute();
  const before = toDataSource(old, change.vault);
  change.record({ action: 'delete', kind: 'data_source', object_id: id, object_name: old.name, before });
}

/** In the order of their creation. */
export async function listDataSources(db: Kysely<Tables>, organizationId: string, vault: Vault): Promise<DataSource[]> {
  const rows = await dataSourceRows(db, organizationId);
  return rows.map((row) => toDataSource(row, vault));
}

/** The rows of an organisation in the order of their creation, secrets sealed. */
export async function dataSourceRows(db: Kysely<Tables>, organizationId: string): Promise<DataSourceRow[]> {
  return db
    .selectFrom('data_sources')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .execute();
}

/**
 * The properties with readable secrets: for the client that queries the data source, never for an answer of the API.
 * @throws SecretKeyError when another key has sealed them
 */
export function openProperties(row: DataSourceRow, vault: Vault): DataSourceProperties {
  return propertiesOf(row, secretsOf(row, vault));
}

async function requireDataSource(db: Kysely<Tables>, organizationId: string, id: string): Promise<DataSourceRow> {
  const row = await db
    .selectFrom('data_sources')
    .selectAll()
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw notFound('data source', id);
  return row;
}

async function requireFreeName(change: Change, name: string, except: string | undefined): Promise<void> {
  const other = await change.tx
    .selectFrom('data_sources')
    .select('id')
    .where('organization_id', '=', change.organizationId)
    .where('name', '=', name)
    .executeTakeFirst();
  if (!other || other.id === except) return;
  throw new Refusal('duplicate_name', `There is a data source named "${name}" (${other.id}).`, {
    details: [{ path: 'body.name', message: 'is taken in this organisation' }],
  });
}

/** Entities and indicators name data sources, so one that is named cannot go away. */
async function refuseUsed(change: Change, row: DataSourceRow, verb: string, references: string[]): Promise<void> {
  const entity = await change.tx
    .selectFrom('entities')
    .select('name')
    .where('organization_id', '=', change.organizationId)
    .where((entity) => entity.or([entity('data_source', 'in', references), entity('data_source_id', 'in', references)]))
    .executeTakeFirst();
  const kpi = await change.tx
    .selectFrom('kpis')
    .select('name')
    .where('organization_id', '=', change.organizationId)
    .where('data_source', 'in', references)
    .executeTakeFirst();
  const user = entity ? `entity "${entity.name}"` : kpi && `indicator "${kpi.name}"`;
  if (user) throw new Refusal('in_use', `The data source "${row.name}" is used by the ${user} and cannot be ${verb}.`);
}

async function clearDefault(change: Change): Promise<void> {
  await change.tx
    .updateTable('data_sources')
    .set({ is_default: 0 })
    .where('organization_id', '=', change.organizationId)
    .where('is_default', '=', 1)
    .execute();
}

function columnsOf(vault: Vault, document: DataSourceChange, old: Secrets) {
  const { password, bearer_token, headers, tls, ...properties } = document.properties ?? {};
  const { client_key, ...openTls } = tls ?? {};
  requireAddress(document.url, properties.flavour);
  const secrets: Secrets = {
    password: password === undefined ? undefined : unmask(password, old.password ?? ''),
    bearer_token: bearer_token === undefined ? undefined : unmask(bearer_token, old.bearer_token ?? ''),
    headers: headers && unmaskValues(headers, old.headers ?? {}),
    client_key: client_key === undefined ? undefined : unmask(client_key, old.client_key ?? ''),
  };
  const columns = {
    name: document.name,
    url: document.url,
    properties: JSON.stringify(tls === undefined ? properties : { ...properties, tls: openTls }),
  };
  requireSendable(propertiesOf(columns, secrets));
  return { ...columns, secrets: vault.seal(JSON.stringify(secrets)) };
}

/** Refuses now what no query could be sent with. */
function requireSendable(properties: DataSourceProperties): void {
  const problem = headerProblem(properties) ?? (properties.tls && tlsProblem(properties.tls));
  if (problem) throw refuseField(`body.properties.${problem.path}`, problem.message);
}

function requireAddress(url: string, flavour: string | undefined): void {
  if (flavour !== undefined && OWN_FLAVOURS.includes(flavour)) {
    if (url !== '') throw refuseField('body.url', `must be empty: the flavour "${flavour}" is the service itself`);
    return;
  }
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    throw refuseField('body.url', 'must be an http:// or https:// address');
  }
  const { username, password } = new URL(url);
  if (username || password) {
    throw refuseField(
      'body.url',
      'must not hold credentials; give them as properties.username and properties.password',
    );
  }
}

function secretsOf(row: DataSourceRow, vault: Vault): Secrets {
  return JSON.parse(vault.open(row.secrets)) as Secrets;
}

function toDataSource(row: DataSourceRow, vault: Vault): DataSource {
  const { password, bearer_token, headers, client_key } = secretsOf(row, vault);
  const masked: Secrets = {
    password: password === undefined ? undefined : maskSecret(password),
    bearer_token: bearer_token === undefined ? undefined : maskSecret(bearer_token),
    headers: headers && maskValues(headers),
    client_key: client_key === undefined ? undefined : maskSecret(client_key),
  };
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    is_default: row.is_default === 1,
    properties: propertiesOf(row, masked),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** As on the wire, with the secrets in their places. */
function propertiesOf(row: Pick<DataSourceRow, 'properties'>, secrets: Secrets): DataSourceProperties {
  const open = JSON.parse(row.properties) as DataSourceProperties;
  const { password, bearer_token, headers, client_key } = secrets;
  return {
    ...open,
    ...(password === undefined ? {} : { password }),
    ...(bearer_token === undefined ? {} : { bearer_token }),
    ...(headers === undefined ? {} : { headers }),
    ...(client_key === undefined ? {} : { tls: { ...open.tls, client_key } }),
  };
}
