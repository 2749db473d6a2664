/** The scaled engine: PostgreSQL 15 or newer by its address. */
import { type CreateTableBuilder, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Backend } from './backend.ts';

/** Connections of one process. */
const CONNECTIONS = 10;

/** Error classes and system errors that mean "not now": connection lost, rolled back, too many connections, shutting down. */
const UNAVAILABLE = /^(08|40|53|57P0|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENOENT)/;

const INT8_OID = 20;

/** 64-bit integers as numbers: all of them are counts, ids and unix seconds, far below 2^53. */
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** @param url `postgres://user:password@host:port/database`, or one with `host=` naming a socket folder. */
export function postgresqlBackend(url: string): Backend {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    types,
    connectionTimeoutMillis: 5000,
    // A process that stands still in the middle of a transaction would keep its locks from all the others.
    idle_in_transaction_session_timeout: 10_000,
  });
  // A connection that breaks is replaced by the pool, and whoever uses it hears of it from its next statement. Without listeners
  // one that breaks between two statements would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return {
    name: 'postgresql',
    dialect: new PostgresDialect({ pool }),
    addSerialId: (table) =>
      table.addColumn('id', 'integer', (column) =>
        column.primaryKey().generatedByDefaultAsIdentity(),
      ) as CreateTableBuilder<string>,
    isUnavailable: (error) =>
      error instanceof Error &&
      (('code' in error && UNAVAILABLE.test(String(error.code))) ||
        error.message.startsWith('Connection terminated') ||
        error.message.startsWith('timeout exceeded when trying to connect')),
  };
}
