/** The audit trail: written in the transaction of the change it tells of, read newest first. */
import { setImmediate as breathe } from 'node:timers/promises';
import type { AuditEntry, auditQuery } from '@obsiac/api';
import type { Kysely } from 'kysely';
import type { z } from 'zod';
import { batchesOf } from './batches.ts';
import type { AuditEntryRow, Tables } from './tables.ts';

/** What a change records. `before` and `after` are wire documents, with secrets already masked. */
export interface AuditDraft {
  readonly action: AuditEntry['action'];
  readonly kind: AuditEntry['kind'];
  readonly object_id: string | number;
  readonly object_name: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface AuditStamp {
  readonly organizationId: string;
  readonly actor: string;
  /** Unix seconds. */
  readonly at: number;
  readonly revision: number;
}

export async function insertAuditEntries(
  db: Kysely<Tables>,
  stamp: AuditStamp,
  entries: readonly AuditDraft[],
): Promise<void> {
  const rows = entries.map((entry) => ({
    organization_id: stamp.organizationId,
    at: stamp.at,
    actor: stamp.actor,
    action: entry.action,
    kind: entry.kind,
    object_id: String(entry.object_id),
    object_name: entry.object_name,
    revision: stamp.revision,
    before: entry.before === undefined ? null : JSON.stringify(entry.before),
    after: entry.after === undefined ? null : JSON.stringify(entry.after),
  }));
  for (const batch of batchesOf(rows)) {
    await db.insertInto('audit_entries').values(batch).execute();
    if (rows.length > batch.length) await breathe();
  }
}

export async function listAuditEntries(
  db: Kysely<Tables>,
  organizationId: string,
  query: z.output<typeof auditQuery>,
): Promise<AuditEntry[]> {
  let select = db.selectFrom('audit_entries').selectAll().where('organization_id', '=', organizationId);
  if (query.before_id !== undefined) select = select.where('id', '<', query.before_id);
  if (query.object_id !== undefined) select = select.where('object_id', '=', query.object_id);
  if (query.kind !== undefined) select = select.where('kind', '=', query.kind);
  const rows = await select.orderBy('id', 'desc').limit(query.limit).execute();
  return rows.map(toAuditEntry);
}

function toAuditEntry(row: AuditEntryRow): AuditEntry {
  return {
    id: row.id,
    at: row.at,
    actor: row.actor,
    action: row.action as AuditEntry['action'],
    kind: row.kind as AuditEntry['kind'],
    object_id: row.object_id,
    object_name: row.object_name,
    revision: row.revision,
    before: row.before === null ? null : JSON.parse(row.before),
    after: row.after === null ? null : JSON.parse(row.after),
  };
}
