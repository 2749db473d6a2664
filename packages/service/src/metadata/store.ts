/** The metadata store: opens it, and runs every write as one transaction with its audit entry and revision. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Kysely, type Transaction } from 'kysely';
import { Refusal } from '../refusal.ts';
import type { Vault } from '../secrets/vault.ts';
import { type AuditDraft, insertAuditEntries } from './audit.ts';
import type { Backend } from './backend.ts';
import { migrate } from './migrate.ts';
import { postgresqlBackend } from './postgresql.ts';
import { sqliteBackend } from './sqlite.ts';
import type { Tables } from './tables.ts';
import { createWriteQueue, type WriteQueue } from './write-queue.ts';

export interface Store {
  readonly db: Kysely<Tables>;
  readonly backend: Backend;
  readonly queue: WriteQueue;
  readonly vault: Vault;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface StoreOptions {
  readonly dataDir: string;
  /** Undefined: SQLite in the data directory. */
  readonly databaseUrl: string | undefined;
  readonly vault: Vault;
  readonly now: () => number;
}

/** Opens the store and brings its tables up to date. Close it with `closeStore`. */
export async function openStore(options: StoreOptions): Promise<Store> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const backend = options.databaseUrl
    ? postgresqlBackend(options.databaseUrl)
    : sqliteBackend(path.join(options.dataDir, 'metadata.sqlite'));
  const db = new Kysely<Tables>({ dialect: backend.dialect });
  try {
    await migrate(db as unknown as Kysely<unknown>, backend);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return { db, backend, queue: createWriteQueue(db), vault: options.vault, now: options.now };
}

export async function closeStore(store: Store): Promise<void> {
  await store.db.destroy();
}

export interface ChangeRequest {
  readonly organizationId: string;
  /** The name of the token that writes. */
  readonly actor: string;
  /** The value of `If-Match`, as sent. */
  readonly ifMatch?: string | undefined;
  /** A person edits in the dashboard: entities with `ui_readonly` are then closed. */
  readonly fromDashboard?: boolean | undefined;
}

/** One write under way. All that it does is kept or dropped together. */
export interface Change {
  readonly tx: Transaction<Tables>;
  readonly vault: Vault;
  readonly organizationId: string;
  /** Unix seconds. */
  readonly now: number;
  readonly fromDashboard: boolean;
  record(entry: AuditDraft): void;
}

/**
 * Moves the organisation's revision, does `work`, writes the audit entries it recorded, commits.
 * Moving the revision first locks the organisation's row: writers of one organisation take turns,
 * in every process, so what `work` checks stays so until it is committed.
 * @returns what `work` gave, and the new revision.
 */
export async function change<T>(
  store: Store,
  request: ChangeRequest,
  work: (change: Change) => Promise<T>,
): Promise<{ value: T; revision: number }> {
  return guarded(store, () =>
    store.queue.run(request.organizationId, async (tx) => {
      const { revision } = await tx
        .updateTable('organizations')
        .set((row) => ({ revision: row('revision', '+', 1) }))
        .where('id', '=', request.organizationId)
        .returning('revision')
        .executeTakeFirstOrThrow();
      requireMatch(request.ifMatch, revision - 1);
      const now = Math.floor(store.now() / 1000);
      const entries: AuditDraft[] = [];
      const record = (entry: AuditDraft) => void entries.push(entry);
      const value = await work({
        tx,
        vault: store.vault,
        organizationId: request.organizationId,
        now,
        fromDashboard: request.fromDashboard ?? false,
        record,
      });
      await insertAuditEntries(tx, { ...request, at: now, revision }, entries);
      return { value, revision };
    }),
  );
}

/** Runs a piece of store work; an engine that cannot answer now becomes the wire's `unavailable`. */
export async function guarded<T>(store: Pick<Store, 'backend'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!store.backend.isUnavailable(error)) throw error;
    throw new Refusal('unavailable', 'The metadata store does not answer; try again shortly.', {
      retryAfter: 2,
      cause: error,
    });
  }
}

function requireMatch(ifMatch: string | undefined, revision: number): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = ifMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (tags.includes(`"${revision}"`) || tags.includes(String(revision))) return;
  throw new Refusal(
    'revision_moved',
    `The organisation is at revision ${revision}, not at ${ifMatch}: someone wrote in between. Read it again and plan anew.`,
  );
}
