/** The embedded engine: SQLite through `node:sqlite`, adapted to Kysely. */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  type CreateTableBuilder,
  type DatabaseConnection,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely';
import type { Backend } from './backend.ts';

/** Prepared statements kept; the service has fewer distinct texts than this. */
const STATEMENTS = 512;

/** How long a write waits for another process (`obsiac-service token …`) to finish its own, in milliseconds. */
const BUSY_TIMEOUT = 5000;

/** SQLite result codes that mean "not now": BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN. */
const UNAVAILABLE = new Set([5, 6, 8, 10, 13, 14]);

/**
 * Opens (and creates, readable by its owner alone) the database file.
 * WAL with `synchronous=FULL`: a transaction that was answered is on the disk.
 */
export function sqliteBackend(file: string): Backend {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const open = async () => new NodeSqlite(file);
  return {
    name: 'sqlite',
    dialect: new NodeSqliteDialect({ database: open }),
    addSerialId: (table) =>
      table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement()) as CreateTableBuilder<string>,
    isUnavailable: (error) =>
      error instanceof Error && 'errcode' in error && UNAVAILABLE.has(Number(error.errcode) & 0xff),
  };
}

/** The few members of a SQLite library that Kysely asks for, with prepared statements kept by their text. */
class NodeSqlite implements SqliteDatabase {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(file: string) {
    this.#database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT, enableForeignKeyConstraints: true });
    this.#database.exec('pragma journal_mode = wal; pragma synchronous = full;');
  }

  prepare(sql: string): SqliteStatement {
    const kept = this.#statements.get(sql);
    if (kept) return kept;
    if (this.#statements.size >= STATEMENTS) this.#statements.clear();
    const statement = adapt(this.#database.prepare(sql));
    this.#statements.set(sql, statement);
    return statement;
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }
}

function adapt(statement: StatementSync): SqliteStatement {
  const bind = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...bind(parameters)),
    run: (parameters) => statement.run(...bind(parameters)),
    iterate: (parameters) => statement.iterate(...bind(parameters)),
  };
}

class NodeSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;

  constructor(config: SqliteDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createDriver(): SqliteDriver {
    return new ImmediateDriver(this.#config);
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

/** Takes the write lock when a transaction begins, so that what it reads first is still so when it writes. */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }
}

/** SQLite's DDL is transactional: a migration is done wholly or not at all. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}
