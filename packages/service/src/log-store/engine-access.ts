/** What other stores of the service that keep their data in the log engine are given of it. */
import type { ClickHouseClient } from '@clickhouse/client';
import type { TableOptions } from './table.ts';

export interface EngineAccess {
  readonly client: ClickHouseClient;
  readonly tables: TableOptions;
  /** @throws StoreError `store_unavailable` while the engine or its tables are not there */
  readonly requireReady: () => void;
  /** Resolves when the engine and its tables can be used. */
  readonly whenReady: (signal?: AbortSignal) => Promise<void>;
  /** Changes when the tables were put back to a backup: what is remembered of their rows is void. */
  readonly generation: () => number;
}
