/** What differs between the two engines of the metadata store, and nothing else. */
import type { CreateTableBuilder, Dialect } from 'kysely';

export interface Backend {
  readonly name: 'sqlite' | 'postgresql';
  readonly dialect: Dialect;
  /** Adds the column `id`: an integer that the database counts up and never gives out twice. */
  addSerialId(table: CreateTableBuilder<string>): CreateTableBuilder<string>;
  /** The wire's refusal for an error that means "not now", undefined for any other error. */
  isUnavailable(error: unknown): boolean;
}
