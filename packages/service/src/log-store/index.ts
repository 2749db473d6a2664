/** The log store as the rest of the service sees it. */
export type { Backup } from './backup.ts';
export { COLUMNS, type ColumnKind, RENAMED_FIELDS } from './columns.ts';
export type { EngineAccess } from './engine-access.ts';
export type { StoreState } from './engine-link.ts';
export type { RecordRow } from './insert.ts';
export { createLogStore, type LogBatch, type LogStore, type LogStoreStatus } from './log-store.ts';
export type { EngineOptions, LogStoreOptions, QueryLimits, Retention } from './options.ts';
export { PlainLines } from './plain-lines.ts';
export type { DroppedPartition } from './retention.ts';
export type { ExportRequest } from './search/export.ts';
export type { LogSearch } from './search/log-search.ts';
export type { Search } from './search/statement.ts';
export type { TailBatch, TailRequest } from './search/tail.ts';
export { StoreError, type StoreErrorCode, toStoreError } from './store-error.ts';
export type { ClusterOptions } from './table.ts';
