/** Says once that a data source does not answer, instead of leaving every rule on it silently unevaluated. */
import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { ResolvedSource } from '../data-source/sources.ts';
import { guarded, type Store } from '../metadata/store.ts';
import type { DataSourceOutageRow, Tables } from '../metadata/tables.ts';
import { enqueueOutage } from '../notifier/index.ts';
import type { OrganizationName } from './organization-rules.ts';

/** Minutes without one answer until it is an outage. */
const PATIENCE = 3;

export interface Watchdog {
  succeeded(organization: OrganizationName, source: ResolvedSource, minute: number): Promise<void>;
  failed(organization: OrganizationName, source: ResolvedSource, minute: number, error: string): Promise<void>;
  /** Reads the open outages: another process may have opened or ended one. */
  refresh(): Promise<void>;
  /**
   * Ends outages of sources that no rule of the organisation uses any more.
   * @param used sources of the rules of this process
   * @param isAlone this process evaluates every rule there is
   */
  forget(organization: OrganizationName, used: ReadonlySet<string>, minute: number, isAlone: boolean): Promise<void>;
  /** Open outages, for the state feed. */
  readonly outages: ReadonlyMap<string, DataSourceOutageRow>;
}

interface Failing {
  readonly first: number;
  last: number;
  minutes: number;
  /** The last minute in which the outage was begun or told of. */
  told: number;
}

interface WatchdogOptions {
  /** Of the process. */
  readonly id: string;
  readonly publicUrl: () => string;
  readonly isAlive: (evaluator: string) => Promise<boolean>;
}

export function createWatchdog(store: Store, options: WatchdogOptions): Watchdog {
  return new StoreWatchdog(store, options);
}

class StoreWatchdog implements Watchdog {
  readonly #store: Store;
  readonly #options: WatchdogOptions;
  readonly #failing = new Map<string, Failing>();
  /** Open outages by organisation and data source. */
  readonly #open = new Map<string, DataSourceOutageRow>();

  constructor(store: Store, options: WatchdogOptions) {
    this.#store = store;
    this.#options = options;
  }

  get outages(): ReadonlyMap<string, DataSourceOutageRow> {
    return this.#open;
  }

  async refresh(): Promise<void> {
    const rows = await this.#store.db
      .selectFrom('data_source_outages')
      .selectAll()
      .where('ended_minute', 'is', null)
      .execute();
    this.#open.clear();
    for (const row of rows) this.#open.set(keyOf(row.organization_id, row.data_source_id), row);
  }

  async failed(organization: OrganizationName, source: ResolvedSource, minute: number, error: string): Promise<void> {
    const key = keyOf(organization.id, source.id);
    const failing = this.#failing.get(key) ?? { first: minute, last: minute, minutes: 1, told: 0 };
    if (minute > failing.last) failing.minutes += 1;
    failing.last = Math.max(failing.last, minute);
    this.#failing.set(key, failing);
    // Thousands of queries may fail in one minute.
    if (failing.minutes < PATIENCE || failing.told >= minute) return;
    failing.told = minute;
    const open = this.#open.get(key);
    if (open === undefined) return this.#begin(organization, source, failing.first, minute, error);
    if (open.opened_by !== this.#options.id && !(await this.#adopt(open))) return;
    await this.#write((tx) => this.#tell(tx, organization, open, minute));
  }

  /** Whoever has opened it may be gone: then this process goes on telling of it. @returns whether it does */
  async #adopt(open: DataSourceOutageRow): Promise<boolean> {
    if (await this.#options.isAlive(open.opened_by)) return false;
    const { id } = this.#options;
    const changed = await guarded(this.#store, () =>
      this.#store.db
        .updateTable('data_source_outages')
        .set({ opened_by: id })
        .where('id', '=', open.id)
        .where('opened_by', '=', open.opened_by)
        .where('ended_minute', 'is', null)
        .executeTakeFirst(),
    );
    if (changed.numUpdatedRows === 0n) return false;
    this.#open.set(keyOf(open.organization_id, open.data_source_id), { ...open, opened_by: id });
    return true;
  }

  async succeeded(organization: OrganizationName, source: ResolvedSource, minute: number): Promise<void> {
    const key = keyOf(organization.id, source.id);
    this.#failing.delete(key);
    const open = this.#open.get(key);
    if (open === undefined) return;
    // A process that reaches the source does not overrule one that lives and does not.
    if (open.opened_by !== this.#options.id && (await this.#options.isAlive(open.opened_by))) return;
    await this.#end(organization, open, minute);
  }

  async forget(
    organization: OrganizationName,
    used: ReadonlySet<string>,
    minute: number,
    isAlone: boolean,
  ): Promise<void> {
    for (const row of [...this.#open.values()]) {
      if (row.organization_id !== organization.id || used.has(row.data_source_id)) continue;
      const isMine = row.opened_by === this.#options.id;
      if (isMine || (isAlone && !(await this.#options.isAlive(row.opened_by)))) {
        await this.#end(organization, row, minute);
      }
    }
  }

  async #begin(
    organization: OrganizationName,
    source: ResolvedSource,
    first: number,
    minute: number,
    error: string,
  ): Promise<void> {
    const row: DataSourceOutageRow = {
      id: createHash('sha256')
        .update(JSON.stringify([organization.id, source.id, first]))
        .digest('hex')
        .slice(0, 32),
      organization_id: organization.id,
      data_source_id: source.id,
      data_source_name: source.name,
      first_minute: first,
      ended_minute: null,
      error,
      opened_by: this.#options.id,
    };
    await this.#write(async (tx) => {
      const inserted = await tx
        .insertInto('data_source_outages')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (inserted.numInsertedOrUpdatedRows !== 1n) return;
      await this.#tell(tx, organization, row, minute);
      this.#open.set(keyOf(organization.id, source.id), row);
    });
  }

  async #end(organization: OrganizationName, row: DataSourceOutageRow, minute: number): Promise<void> {
    const ended = { ...row, ended_minute: Math.max(minute, row.first_minute) };
    await this.#write(async (tx) => {
      const changed = await tx
        .updateTable('data_source_outages')
        .set({ ended_minute: ended.ended_minute })
        .where('id', '=', row.id)
        .where('ended_minute', 'is', null)
        .executeTakeFirst();
      if (changed.numUpdatedRows > 0n) await this.#tell(tx, organization, ended, minute);
    });
    this.#open.delete(keyOf(row.organization_id, row.data_source_id));
  }

  async #tell(
    tx: Transaction<Tables>,
    organization: OrganizationName,
    outage: DataSourceOutageRow,
    minute: number,
  ): Promise<void> {
    const publicUrl = this.#options.publicUrl();
    await enqueueOutage(tx, { organization, outage, publicUrl }, { minute, nowMs: this.#store.now() });
  }

  #write(work: (tx: Transaction<Tables>) => Promise<void>): Promise<void> {
    return guarded(this.#store, () => this.#store.db.transaction().execute(work));
  }
}

function keyOf(organizationId: string, sourceId: string): string {
  return `${organizationId}/${sourceId}`;
}
