/** The search over entities that dashboards and assistants use: `POST /entities/list`. */
import type { EntitySearch, entitySearchResult } from '@obsiac/api';
import type { Kysely } from 'kysely';
import type { z } from 'zod';
import type { EntityRow, Tables } from './tables.ts';

type Filter = NonNullable<EntitySearch['filters']>[number];
export type FoundEntity = z.infer<typeof entitySearchResult>[number]['entities'][number];
type Searched = Pick<
  EntityRow,
  'id' | 'name' | 'type' | 'entity_class' | 'data_source' | 'data_source_id' | 'metadata'
>;

/** One page of the entities after the id `after`, with those that the filters let through. */
export async function searchPage(
  db: Kysely<Tables>,
  organizationId: string,
  filters: readonly Filter[],
  after: string | undefined,
  limit: number,
): Promise<{ found: FoundEntity[]; last: string | undefined }> {
  const rows = await db
    .selectFrom('entities')
    .select(['id', 'name', 'type', 'entity_class', 'data_source', 'data_source_id', 'metadata'])
    .where('organization_id', '=', organizationId)
    .where('id', '>', after ?? '')
    .orderBy('id')
    .limit(limit)
    .execute();
  const names = await dataSourceNames(db, organizationId);
  const entities = rows.map((row) => ({ ...describe(row, names), entity_class: row.entity_class }));
  const found = entities.filter((entity) => matches(entity, filters)).map(({ entity_class: _, ...entity }) => entity);
  return { found, last: rows.length < limit ? undefined : rows.at(-1)!.id };
}

/**
 * Filters are taken from left to right; each is joined to what stands before it by its own conjunction,
 * `and` unless it says `or`. Without filters everything matches.
 */
function matches(entity: FoundEntity & { entity_class: string }, filters: readonly Filter[]): boolean {
  return filters.reduce((sofar, filter, index) => {
    const matched = valuesOf(entity, filter).some((value) => compare(value, filter));
    if (index === 0) return matched;
    return filter.conjunction?.toLowerCase() === 'or' ? sofar || matched : sofar && matched;
  }, true);
}

function compare(value: string, filter: Filter): boolean {
  if (filter.operator === 'equal') return value === filter.value;
  return value.toLowerCase().includes(filter.value.toLowerCase());
}

function valuesOf(entity: FoundEntity & { entity_class: string }, { filter_type }: Filter): readonly string[] {
  switch (filter_type) {
    case 'entity_class':
      return [entity.entity_class];
    case 'entity_name':
      return [entity.name];
    case 'entity_type':
      return [entity.type];
    case 'data_source_name':
      return [entity.data_source_name];
    case 'tags':
      return entity.metadata.tags;
  }
}

function describe(row: Searched, names: ReadonlyMap<string, string>): FoundEntity {
  const { tags } = JSON.parse(row.metadata) as { tags: string[] };
  const dataSourceName = row.data_source || (names.get(row.data_source_id) ?? '');
  return { id: row.id, name: row.name, type: row.type, data_source_name: dataSourceName, metadata: { tags } };
}

async function dataSourceNames(db: Kysely<Tables>, organizationId: string): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('data_sources')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .execute();
  return new Map(rows.map((row) => [row.id, row.name]));
}
