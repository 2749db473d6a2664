/**
 * Asks every process that evaluates rules what it knows of an organisation. The store says who that is: the owners of the shards.
 * A process asked this way answers for itself alone and asks nobody, so a question makes one hop at most.
 */
import type { Incomplete } from '@obsiac/api';
import type { FastifyBaseLogger } from 'fastify';
import type { Evaluator } from '../evaluator/index.ts';
import { shardOf } from '../evaluator/shards.ts';
import type { Identity } from '../http/authentication.ts';
import { guarded, type Store } from '../metadata/store.ts';
import type { AccessTokens } from '../tokens/access-tokens.ts';
import { type LiveAnswer, type LiveQuery, type LiveRule, liveRulesOf, readLiveAnswer } from './live.ts';

/** Milliseconds that another process has for its answer. */
const PATIENCE = 5000;

/** Milliseconds for which a process that did not answer is not asked again, so that not every page waits for it. */
const REST = 15_000;

export const LIVE_PATH = '/alert-states/live';

export interface AlertStatesContext {
  readonly store: Store;
  readonly tokens: AccessTokens;
  /** Undefined: this process evaluates nothing. */
  readonly evaluator?: Evaluator | undefined;
}

export interface Gathering {
  /** Who asks: other processes are asked in the name of the same token. */
  readonly identity: Pick<Identity, 'organizationId' | 'slug' | 'tokenId'>;
  /** Alert managers whose rules matter. */
  readonly entityIds: Iterable<string>;
  readonly query: LiveQuery;
  readonly log: FastifyBaseLogger;
}

export interface Gathered {
  readonly rules: ReadonlyMap<string, LiveRule>;
  readonly incomplete: Incomplete;
  readonly outages: LiveAnswer['outages'];
}

interface Owner {
  readonly id: string;
  readonly address: string;
}

/** Until when a process is not asked, by its id and `performance.now()`. */
const resting = new Map<string, number>();

export async function gatherLive(context: AlertStatesContext, gathering: Gathering): Promise<Gathered> {
  const { ids, owners } = await ownersOf(context.store, gathering.entityIds);
  const answers = await Promise.all(
    [...ids].map(async ([ownerId, entityIds]) => {
      const answer = await askOwner(context, gathering, owners.get(ownerId));
      return typeof answer === 'string' ? { answer: undefined, gap: { message: answer, entityIds } } : { answer };
    }),
  );
  const rules = new Map<string, LiveRule>();
  const outages = new Map<string, LiveAnswer['outages'][number]>();
  const incomplete: Incomplete = [];
  for (const { answer, gap } of answers) {
    for (const rule of answer?.rules ?? []) rules.set(rule.rule_id, rule);
    for (const outage of answer?.outages ?? []) outages.set(outage.data_source_id, outage);
    if (gap) incomplete.push({ message: gap.message, alert_group_ids: gap.entityIds });
  }
  return { rules, incomplete, outages: [...outages.values()] };
}

/** Entities by the process that evaluates their rules; those of nobody under the empty text. */
async function ownersOf(store: Store, entityIds: Iterable<string>) {
  const ids = new Map<string, string[]>();
  const owners = new Map<string, Owner>();
  const rows = await guarded(store, () =>
    store.db
      .selectFrom('evaluator_shards as shard')
      .leftJoin('evaluators as evaluator', 'evaluator.id', 'shard.owner')
      .select(['shard.shard', 'shard.owner', 'evaluator.address'])
      .execute(),
  );
  const byShard = new Map(rows.map((row) => [row.shard, row]));
  for (const entityId of entityIds) {
    const row = byShard.get(shardOf(entityId));
    const owner = row?.owner ?? '';
    if (row && owner !== '') owners.set(owner, { id: owner, address: row.address ?? '' });
    const mine = ids.get(owner);
    if (mine) mine.push(entityId);
    else ids.set(owner, [entityId]);
  }
  return { ids, owners };
}

const NOBODY = 'No process evaluates these alert managers at the moment.';
const SILENT =
  'The process that evaluates these alert managers does not answer. What fires is taken from the store; what is pending, current values and evaluations are missing.';

/** @returns what it knows, or a sentence that says why that is not known */
async function askOwner(
  context: AlertStatesContext,
  gathering: Gathering,
  owner: Owner | undefined,
): Promise<LiveAnswer | string> {
  const { evaluator } = context;
  const { identity, query, log } = gathering;
  if (owner === undefined) return NOBODY;
  if (owner.id === evaluator?.id) return liveRulesOf(evaluator, identity.organizationId, query);
  if (owner.address === '' || (resting.get(owner.id) ?? 0) > performance.now()) return SILENT;
  try {
    const answer = await askPeer(context, gathering, owner);
    resting.delete(owner.id);
    return answer;
  } catch (error) {
    if (resting.size > 1000) resting.clear();
    resting.set(owner.id, performance.now() + REST);
    log.warn({ err: error, evaluator: owner.id, address: owner.address }, 'another evaluator did not answer');
    return SILENT;
  }
}

async function askPeer(context: AlertStatesContext, { identity, query }: Gathering, owner: Owner): Promise<LiveAnswer> {
  const { tokenId, slug } = identity;
  const url = new URL(`/api/v4/organizations/${encodeURIComponent(slug)}${LIVE_PATH}`, owner.address);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  // A token of this caller, which its refresh token's revocation ends as any other; what it sent itself may be of another form.
  const { accessToken } = await context.tokens.issue({ tokenId, slug, scopes: ['read'] }, url.host);
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (!response.ok) throw new Error(`it answered with status ${response.status}`);
  const answer = await readLiveAnswer(await response.json());
  // An address that means "this machine" leads to another process there, or back here.
  if (answer.id !== owner.id) throw new Error(`the evaluator ${answer.id || 'of nobody'} answered in its place`);
  return answer;
}
