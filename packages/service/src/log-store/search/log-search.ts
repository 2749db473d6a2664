/** All searches of one store, bound to its engine and its limits. */
import type {
  LogContextAnswer,
  LogFacetsAnswer,
  LogFieldNamesAnswer,
  LogFieldValuesAnswer,
  LogHitsAnswer,
  LogQueryAnswer,
} from '@obsiac/api';
import type { SearchConnection } from './connection.ts';
import { type ExportRequest, exportRecords } from './export.ts';
import { searchHits } from './hits.ts';
import { searchContext, searchFacets, searchFieldNames, searchFieldValues, searchRecords } from './search.ts';
import { followRecords, type TailBatch, type TailRequest, type TailSource } from './tail.ts';
import { Turns } from './turns.ts';

type Request<Search extends (connection: SearchConnection, request: never) => unknown> = Parameters<Search>[1];

/** What a request needs to know of the store. Each search throws StoreError. */
export interface LogSearch {
  query(request: Request<typeof searchRecords>): Promise<LogQueryAnswer>;
  hits(request: Request<typeof searchHits>): Promise<LogHitsAnswer>;
  facets(request: Request<typeof searchFacets>): Promise<LogFacetsAnswer>;
  fieldNames(request: Request<typeof searchFieldNames>): Promise<LogFieldNamesAnswer>;
  fieldValues(request: Request<typeof searchFieldValues>): Promise<LogFieldValuesAnswer>;
  /** Undefined: there is no such record. */
  context(request: Request<typeof searchContext>): Promise<LogContextAnswer | undefined>;
  export(request: ExportRequest): AsyncGenerator<Buffer>;
  /** Goes on until the request's signal aborts. */
  tail(request: TailRequest): AsyncGenerator<TailBatch>;
}

/** Exports that keep a statement of the engine open while they are read, at once. */
const OPEN_EXPORTS = 2;

/** @param requireReady throws when the store cannot be asked now. */
export function createLogSearch(source: TailSource, requireReady: () => void): LogSearch {
  const { connection } = source;
  const exports = new Turns(OPEN_EXPORTS);
  const ready = async (): Promise<SearchConnection> => {
    requireReady();
    return connection;
  };
  return {
    query: async (request) => searchRecords(await ready(), request),
    hits: async (request) => searchHits(await ready(), request),
    facets: async (request) => searchFacets(await ready(), request),
    fieldNames: async (request) => searchFieldNames(await ready(), request),
    fieldValues: async (request) => searchFieldValues(await ready(), request),
    context: async (request) => searchContext(await ready(), request),
    export: (request) => {
      requireReady();
      return exportRecords(connection, request, exports);
    },
    tail: (request) => {
      requireReady();
      return followRecords(source, request);
    },
  };
}
