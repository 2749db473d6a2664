/** The episodes of a rule, newest first; also of a rule that has been deleted. */
import type { AlertEpisode, AlertHistory, alertHistoryQuery, END_REASONS } from '@obsiac/api';
import type { ExpressionBuilder, Kysely } from 'kysely';
import type { z } from 'zod';
import { guarded, type Store } from '../metadata/store.ts';
import type { Tables } from '../metadata/tables.ts';
import { notFound, refuseField } from '../refusal.ts';
import { labelHash, type StoredEpisode, withFacts } from './store-reads.ts';

/** Seconds of history when nothing is said. */
const USUAL_RANGE = 30 * 86_400;

/** Episodes whose times are added up at most; a rule with more has been firing all the time anyhow. */
const MOST_COUNTED = 100_000;

interface RuleName {
  readonly organizationId: string;
  readonly entityId: string;
  readonly ruleId: string;
}

/** @throws Refusal `not_found`, `bad_request` */
export async function readHistory(
  store: Store,
  rule: RuleName,
  query: z.output<typeof alertHistoryQuery>,
): Promise<AlertHistory> {
  const now = Math.floor(store.now() / 1000);
  const to = Math.floor(query.to ?? now);
  const from = Math.floor(query.from ?? Math.max(0, to - USUAL_RANGE));
  if (from >= to) throw refuseField('query.from', 'must be before query.to');
  return guarded(store, async () => {
    const last = await lastFired(store.db, rule);
    if (last === undefined) await requireKnown(store.db, rule);
    const before = query.before === undefined ? undefined : await pageMark(store.db, rule, query.before);
    const spans = await readSpans(store.db, rule, { from, to });
    const rows = query.limit === 0 ? [] : await readPage(store.db, rule, { from, to, before, limit: query.limit + 1 });
    const page = rows.slice(0, query.limit);
    return {
      from,
      to,
      total: spans.length,
      firing_seconds: covered(spans, from, Math.min(to, now)),
      last_fired_at: last === undefined ? null : last * 60,
      episodes: page.map((episode) => describeEpisode(episode, now)),
      next: rows.length > page.length && page.length > 0 ? page.at(-1)!.row.id : null,
    };
  });
}

function episodesOf(db: Kysely<Tables>, { organizationId, entityId, ruleId }: RuleName) {
  return db
    .selectFrom('alert_episodes')
    .where('rule_id', '=', ruleId)
    .where('entity_id', '=', entityId)
    .where('organization_id', '=', organizationId);
}

async function lastFired(db: Kysely<Tables>, rule: RuleName): Promise<number | undefined> {
  const row = await episodesOf(db, rule)
    .select('fired_minute')
    .orderBy('fired_minute', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.fired_minute;
}

/** A rule that never fired must at least be there. */
async function requireKnown(db: Kysely<Tables>, { organizationId, entityId, ruleId }: RuleName): Promise<void> {
  const row = await db
    .selectFrom('alert_rules')
    .select('id')
    .where('id', '=', ruleId)
    .where('entity_id', '=', entityId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw notFound('alert rule', ruleId);
}

interface PageMark {
  readonly id: string;
  readonly firedMinute: number;
}

async function pageMark(db: Kysely<Tables>, rule: RuleName, id: string): Promise<PageMark> {
  const row = await episodesOf(db, rule).select(['id', 'fired_minute']).where('id', '=', id).executeTakeFirst();
  if (!row) throw refuseField('query.before', 'is not the id of an episode of this rule');
  return { id, firedMinute: row.fired_minute };
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Fired before the end of the range, and not over at its beginning. */
function overlaps({ from, to }: Range) {
  return (row: ExpressionBuilder<Tables, 'alert_episodes'>) =>
    row.and([
      row('fired_minute', '<', Math.ceil(to / 60)),
      row.or([row('resolved_minute', 'is', null), row('resolved_minute', '>', Math.floor(from / 60))]),
    ]);
}

interface Span {
  readonly fired_minute: number;
  readonly resolved_minute: number | null;
}

function readSpans(db: Kysely<Tables>, rule: RuleName, range: Range): Promise<Span[]> {
  return episodesOf(db, rule)
    .select(['fired_minute', 'resolved_minute'])
    .where(overlaps(range))
    .orderBy('fired_minute')
    .limit(MOST_COUNTED)
    .execute();
}

async function readPage(
  db: Kysely<Tables>,
  rule: RuleName,
  { before, limit, ...range }: Range & { readonly before: PageMark | undefined; readonly limit: number },
): Promise<StoredEpisode[]> {
  let select = episodesOf(db, rule).selectAll().where(overlaps(range));
  if (before) {
    select = select.where((row) =>
      row.or([
        row('fired_minute', '<', before.firedMinute),
        row.and([row('fired_minute', '=', before.firedMinute), row('id', '<', before.id)]),
      ]),
    );
  }
  const rows = await select.orderBy('fired_minute', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map(withFacts);
}

/** Seconds of a range that at least one span covers. */
function covered(spans: readonly Span[], from: number, to: number): number {
  let sum = 0;
  let reached = from;
  for (const { fired_minute, resolved_minute } of spans) {
    const begin = Math.max(fired_minute * 60, reached);
    const end = Math.min(resolved_minute === null ? to : resolved_minute * 60, to);
    if (end <= begin) continue;
    sum += end - begin;
    reached = end;
  }
  return sum;
}

function describeEpisode({ row, facts }: StoredEpisode, now: number): AlertEpisode {
  const end = row.resolved_minute === null ? now : row.resolved_minute * 60;
  return {
    id: row.id,
    group_id: row.group_id,
    state: row.resolved_minute === null ? 'firing' : 'resolved',
    severity: facts.severity,
    labels: { ...facts.labels },
    label_hash: labelHash(row.series_key),
    first_bad_at: row.first_bad_minute * 60,
    fired_at: row.fired_minute * 60,
    resolved_at: row.resolved_minute === null ? null : row.resolved_minute * 60,
    duration: Math.max(0, end - row.fired_minute * 60),
    reason: row.reason === '' ? null : (row.reason as (typeof END_REASONS)[number]),
    value: row.value,
    late: row.late === 1,
    ...(facts.explanation === undefined ? {} : { explanation: facts.explanation }),
  };
}
