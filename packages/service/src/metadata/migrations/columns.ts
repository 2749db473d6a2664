/** What the migrations build tables with. Released steps use it, so that what is here never changes its meaning. */
import type { ColumnDefinitionBuilder, CreateTableBuilder, Kysely } from 'kysely';

export type Column = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;

export const required: Column = (column) => column.notNull();
export const inOrganization: Column = (column) => column.notNull().references('organizations.id').onDelete('cascade');

/** Adds text columns that are never null. */
export function withTexts<T extends string>(
  table: CreateTableBuilder<T>,
  names: readonly string[],
): CreateTableBuilder<T> {
  return names.reduce((builder, name) => builder.addColumn(name, 'text', required) as CreateTableBuilder<T>, table);
}

export function index(db: Kysely<unknown>, table: string, columns: string[]): Promise<void> {
  return db.schema
    .createIndex(`${table}_${columns.join('_')}_idx`)
    .on(table)
    .columns(columns)
    .execute();
}
