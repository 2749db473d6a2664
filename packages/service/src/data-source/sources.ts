/** Keeps one client for each data source of each organisation, and finds the one that an indicator asks. */
import type { DATA_SOURCE_FLAVOURS } from '@obsiac/api';
import { dataSourceRows, openProperties } from '../metadata/data-sources.ts';
import type { Store } from '../metadata/store.ts';
import type { DataSourceRow } from '../metadata/tables.ts';
import { AnswerReader } from './answer-reader.ts';
import { createHttpSource, type HttpSourceOptions } from './http-source.ts';
import type { SourceClient } from './source.ts';

type Flavour = (typeof DATA_SOURCE_FLAVOURS)[number];

/** Makes the client for the service's own data of an organisation; its delay in seconds when the data source sets one. */
export type OwnSourceFactory = (organizationId: string, evaluationDelay: number | undefined) => SourceClient;

export interface SourcesOptions {
  readonly store: Pick<Store, 'db' | 'vault'>;
  /** Undefined where the service keeps no metrics, or no logs, of its own. */
  readonly embedded?: OwnSourceFactory | undefined;
  readonly logs?: OwnSourceFactory | undefined;
  readonly limits?: Omit<HttpSourceOptions, 'reader'>;
  /** Milliseconds that a replaced client still answers those who hold it; two minutes unless told. */
  readonly retireAfter?: number;
}

export interface ResolvedSource {
  readonly id: string;
  readonly name: string;
  readonly flavour: Flavour;
  readonly client: SourceClient;
  /** Queries at a time, when the data source says; what is more waits inside the client. */
  readonly concurrency: number | undefined;
}

/** Why there is no client. */
export interface UnresolvedSource {
  readonly code: 'unknown_data_source' | 'no_data_source' | 'unusable_data_source';
  /** A sentence. */
  readonly problem: string;
}

/** The data sources of one organisation, as they stood when they were read. */
export interface OrganizationSources {
  /**
   * The data source of an indicator: the one that it names, else the one of its entity (its id before its name), else the default.
   * Each may be given by name or by id; an empty text names none.
   */
  resolve(
    kpi: { readonly data_source: string },
    entity: { readonly data_source: string; readonly data_source_id: string },
  ): ResolvedSource | UnresolvedSource;
}

export interface Sources {
  /** Reads the data sources of an organisation; clients of unchanged ones are kept. */
  load(organizationId: string): Promise<OrganizationSources>;
  /** Closes every client; queries under way are cancelled. */
  close(): Promise<void>;
}

const RETIRE_AFTER = 120_000;

export function createSources(options: SourcesOptions): Sources {
  return new SourceKeeper(options);
}

/** A client, or why there is none; made once for each version of a row. */
interface Kept {
  /** Sealing makes another text each time, so an update in the same second is another version too. */
  readonly version: string;
  readonly resolution: ResolvedSource | UnresolvedSource;
}

class SourceKeeper implements Sources {
  readonly #options: SourcesOptions;
  readonly #reader = new AnswerReader();
  /** By organisation, then by id of the data source. */
  readonly #kept = new Map<string, Map<string, Kept>>();
  readonly #retired = new Map<SourceClient, NodeJS.Timeout>();
  #isClosed = false;

  constructor(options: SourcesOptions) {
    this.#options = options;
  }

  async load(organizationId: string): Promise<OrganizationSources> {
    const rows = await dataSourceRows(this.#options.store.db, organizationId);
    if (this.#isClosed) throw new Error('The data sources are closed.');
    const before = this.#kept.get(organizationId) ?? new Map<string, Kept>();
    const now = new Map(rows.map((row) => [row.id, this.#keep(row, before.get(row.id))]));
    this.#kept.set(organizationId, now);
    for (const [id, kept] of before) if (now.get(id) !== kept) this.#retire(kept);
    return finderOf(rows, new Map([...now].map(([id, { resolution }]) => [id, resolution])));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const clients = [...this.#kept.values()].flatMap((kept) => [...kept.values()].flatMap(clientOf));
    for (const [client, timer] of this.#retired) {
      clearTimeout(timer);
      clients.push(client);
    }
    this.#kept.clear();
    this.#retired.clear();
    await Promise.all(clients.map((client) => client.close()));
    await this.#reader.close();
  }

  #keep(row: DataSourceRow, before: Kept | undefined): Kept {
    const version = `${row.updated_at} ${row.secrets}`;
    if (before?.version === version) return before;
    return { version, resolution: this.#resolutionOf(row) };
  }

  #resolutionOf(row: DataSourceRow): ResolvedSource | UnresolvedSource {
    try {
      return this.#open(row);
    } catch (error) {
      return unusable(row.name, (error as Error).message);
    }
  }

  #open(row: DataSourceRow): ResolvedSource | UnresolvedSource {
    const properties = openProperties(row, this.#options.store.vault);
    const { flavour = 'prometheus', concurrency } = properties;
    const found = { id: row.id, name: row.name, flavour, concurrency };
    if (flavour !== 'embedded' && flavour !== 'logs') {
      const options = { ...this.#options.limits, reader: this.#reader };
      return { ...found, client: createHttpSource({ url: row.url, properties }, options) };
    }
    const make = this.#options[flavour];
    if (make) return { ...found, client: make(row.organization_id, properties.evaluation_delay_seconds) };
    return unusable(row.name, `This service keeps no ${flavour === 'logs' ? 'logs' : 'metrics'} of its own.`);
  }

  /** Whoever has resolved it may be about to use it, so it is closed only later. */
  #retire(kept: Kept): void {
    for (const client of clientOf(kept)) {
      const close = () => {
        this.#retired.delete(client);
        void client.close();
      };
      this.#retired.set(client, setTimeout(close, this.#options.retireAfter ?? RETIRE_AFTER).unref());
    }
  }
}

function clientOf({ resolution }: Kept): SourceClient[] {
  return 'client' in resolution ? [resolution.client] : [];
}

function unusable(name: string, why: string): UnresolvedSource {
  return { code: 'unusable_data_source', problem: `The data source "${name}" cannot be used: ${why}` };
}

function finderOf(
  rows: readonly DataSourceRow[],
  found: ReadonlyMap<string, ResolvedSource | UnresolvedSource>,
): OrganizationSources {
  const idByName = new Map(rows.map((row) => [row.name, row.id]));
  const defaultId = rows.find((row) => row.is_default === 1)?.id;
  const byReference = (reference: string) => found.get(idByName.get(reference) ?? reference);
  return {
    resolve(kpi, entity) {
      const reference = kpi.data_source || entity.data_source_id || entity.data_source;
      if (reference === '') return found.get(defaultId ?? '') ?? NONE;
      // A name may look like the id of another one: where an id is given, it goes first.
      const isId = kpi.data_source === '' && entity.data_source_id !== '';
      return (isId ? found.get(reference) : undefined) ?? byReference(reference) ?? unknown(reference);
    },
  };
}

const NONE: UnresolvedSource = { code: 'no_data_source', problem: 'The organisation has no default data source.' };

function unknown(reference: string): UnresolvedSource {
  return {
    code: 'unknown_data_source',
    problem: `There is no data source with the name or id "${reference}" in this organisation.`,
  };
}
