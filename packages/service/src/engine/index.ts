/** The log engine as the rest of the service sees it. */
export { type ClientOptions, createEngineClient, type EngineAddress } from './clickhouse-client.ts';
export {
  createEngineSupervisor,
  type EngineState,
  type EngineSupervisor,
  type EngineSupervisorOptions,
} from './engine-supervisor.ts';
export { unsupportedPlatform } from './platform.ts';
export type { EngineFailureCode } from './protocol.ts';
export { quoteIdentifier, quoteString, unescapeTabSeparated } from './sql-text.ts';
