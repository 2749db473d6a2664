/** Reads what a service holds, with few requests and the read token alone. */
import { ApiError, type Client, type ReadEntity, type Sent } from '@obsiac/api';
import type { Actual } from '@obsiac/model';
import { type Parts, toActual } from './to-actual.ts';

export interface ReadActual {
  readonly signal?: AbortSignal;
  /** Requests under way at a time where a service has no list over the organisation. */
  readonly concurrency?: number;
}

export interface ReadResult {
  readonly actual: Actual;
  /** The organisation's revision the reading was made at; null when the service has none (the hosted one). */
  readonly revision: number | null;
  /** False when somebody kept changing the organisation during each of the attempts: worth a warning. */
  readonly consistent: boolean;
}

const ATTEMPTS = 4;
const DEFAULT_CONCURRENCY = 8;

/**
 * Reads the whole organisation: five lists at once. Each answer carries the revision it was made at; when they differ,
 * somebody wrote in between, and it is read again. Throws `ApiError`; a missing answer is never read as "nothing there".
 */
export async function readActual(client: Client, options: ReadActual = {}): Promise<ReadResult> {
  for (let attempt = 1; ; attempt += 1) {
    const { parts, revisions } = await readParts(client, options);
    const consistent = revisions.every((revision) => revision === revisions[0]);
    if (consistent || attempt === ATTEMPTS) {
      const revision = revisions.includes(null) ? null : Math.min(...(revisions as number[]));
      return { actual: toActual(parts), revision, consistent };
    }
  }
}

interface Reading {
  readonly parts: Parts;
  readonly revisions: readonly (number | null)[];
}

async function readParts(client: Client, { signal, concurrency = DEFAULT_CONCURRENCY }: ReadActual): Promise<Reading> {
  // The first failure ends the other requests: nobody waits for a list of megabytes whose neighbour was refused.
  const others = new AbortController();
  const ask = { signal: signal === undefined ? others.signal : AbortSignal.any([signal, others.signal]) };
  try {
    const [entities, kpis, rules, channels, sources] = await Promise.all([
      client.listEntities(ask),
      client.listKpis(ask).catch(noSuchList),
      client.listAlertRules(ask),
      client.listChannels(ask),
      client.listDataSources(ask),
    ]);
    const sent: readonly (Sent<unknown> | null)[] = [entities, kpis, rules, channels, sources];
    return {
      parts: {
        entities: await withMetadata(client, entities.value, concurrency, ask),
        kpis: kpis?.value ?? (await kpisOfEach(client, entities.value, concurrency, ask)),
        rules: rules.value,
        channels: channels.value,
        sources: sources.value,
      },
      revisions: sent.map((each) => each?.revision ?? null),
    };
  } catch (error) {
    others.abort();
    throw error;
  }
}

/** The hosted service has indicators only below their entities. Any other failure stays one. */
function noSuchList(error: unknown): null {
  if (error instanceof ApiError && error.code === 'not_found') return null;
  throw error;
}

/** Where the list leaves the metadata out, each entity is asked for. */
function withMetadata(
  client: Client,
  entities: readonly ReadEntity[],
  concurrency: number,
  ask: { signal: AbortSignal },
): Promise<readonly ReadEntity[]> {
  if (entities.every((entity) => entity.metadata !== undefined)) return Promise.resolve(entities);
  return inTurns(entities, concurrency, (entity) =>
    entity.metadata === undefined ? client.getEntity(entity.id, ask) : Promise.resolve(entity),
  );
}

async function kpisOfEach(
  client: Client,
  entities: readonly ReadEntity[],
  concurrency: number,
  ask: { signal: AbortSignal },
): Promise<Parts['kpis']> {
  const lists = await inTurns(entities, concurrency, async ({ id }) =>
    (await client.listEntityKpis(id, ask)).map((kpi) => ({ ...kpi, entity_id: id })),
  );
  return lists.flat();
}

/** Results in the order of `items`, with at most `concurrency` under way. */
async function inTurns<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]!);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return results;
}
