/** What this process evaluates: the rules of its shards, read again when an organisation changes. */

import type { Sources } from '../data-source/sources.ts';
import { guarded } from '../metadata/store.ts';
import type { AlertEpisodeRow } from '../metadata/tables.ts';
import { endOrphans } from './ends.ts';
import { episodesSince, toEpisode } from './episodes.ts';
import type { EvaluatedRule, UnusableRule, WindowOptions } from './evaluated-rule.ts';
import type { EvaluatorContext } from './evaluator-context.ts';
import { loadOrganizationRules, type OrganizationRules } from './organization-rules.ts';
import { recordUnusable } from './record-errors.ts';
import { keepReachable, LONGEST_REACH, newRuleState, type RuleState } from './rule-state.ts';
import { type Lease, SHARDS } from './shards.ts';
import { dueMinute } from './slots.ts';
import { toUnits, type Unit } from './unit.ts';

/** Milliseconds in which nothing is read again: every second look of the evaluator. */
const READ_EVERY = 900;

/** Reading takes at most this part of the time: while an `apply` writes thousands of objects, not each of them is followed. */
const SHARE_OF_TIME = 20;

/** Milliseconds until what could not be written after reading is tried again. */
const REST = 5_000;

interface Loaded {
  readonly rules: OrganizationRules;
  readonly units: readonly Unit[];
  /** Shards that were held when it was read and have been since. */
  readonly shards: ReadonlySet<number>;
  /** Nothing has to be read or written anew until a revision or a shard changes. */
  isCurrent: boolean;
}

/** A unit and what is known of it between two looks. */
export interface WorkItem {
  readonly unit: Unit;
  readonly organization: OrganizationRules;
  /** The last minute for which nothing is left to do. */
  settled: number;
}

export class Workload {
  readonly #context: EvaluatorContext;
  readonly #sources: Sources;
  readonly #window: WindowOptions;
  readonly #loaded = new Map<string, Loaded>();
  readonly #rules = new Map<string, EvaluatedRule | UnusableRule>();
  #shards: ReadonlyMap<number, Lease> = new Map();
  #work: readonly WorkItem[] | undefined;
  /** Milliseconds of the machine's clock before which nothing is read again. */
  #restUntil = 0;

  constructor(context: EvaluatorContext, sources: Sources, window: WindowOptions) {
    this.#context = context;
    this.#sources = sources;
    this.#window = window;
  }

  /** Rules of shards that are no longer held are forgotten at once, and read again should their shards come back. */
  keepShards(held: ReadonlyMap<number, Lease>): void {
    // Under another epoch somebody else may have held it in between.
    const isMissingIn = (leases: ReadonlyMap<number, Lease>) => (lease: Lease) =>
      leases.get(lease.shard)?.epoch !== lease.epoch;
    const lost = new Set([...this.#shards.values()].filter(isMissingIn(held)).map(({ shard }) => shard));
    // Nobody else evaluates the rules of a shard that has come.
    if ([...held.values()].some(isMissingIn(this.#shards))) this.rested();
    this.#shards = new Map(held);
    if (lost.size === 0) return;
    for (const [id, rule] of this.#rules) if (lost.has(rule.shard)) this.#forget(id);
    for (const [id, loaded] of this.#loaded) {
      const shards = new Set([...loaded.shards].filter((shard) => !lost.has(shard)));
      this.#loaded.set(id, { ...loaded, shards, isCurrent: false });
    }
  }

  #forget(ruleId: string): void {
    this.#rules.delete(ruleId);
    this.#context.states.delete(ruleId);
  }

  /** What has changed is read at once, however long reading took the last time. */
  rested(): void {
    this.#restUntil = 0;
  }

  /** Reads the organisations that have changed, or whose rules have come to this process. */
  async refresh(now: number): Promise<void> {
    const { store } = this.#context;
    if (performance.now() < this.#restUntil) return;
    const organizations = await guarded(store, () =>
      store.db.selectFrom('organizations').select(['id', 'slug', 'revision']).execute(),
    );
    const began = performance.now();
    for (const { id, slug, revision } of organizations) {
      const loaded = this.#loaded.get(id);
      if (loaded?.isCurrent && loaded.rules.revision === revision && this.#sameShards(loaded.shards)) continue;
      await this.#load({ id, slug }, revision, now);
    }
    const known = new Set(organizations.map(({ id }) => id));
    for (const id of this.#loaded.keys()) if (!known.has(id)) this.#drop(id);
    const took = performance.now() - began;
    const rest = Math.max(READ_EVERY, took > 50 ? took * SHARE_OF_TIME : 0, this.#isUnsettled() ? REST : 0);
    this.#restUntil = performance.now() + rest;
  }

  #isUnsettled(): boolean {
    return [...this.#loaded.values()].some(({ isCurrent }) => !isCurrent);
  }

  #sameShards(shards: ReadonlySet<number>): boolean {
    return shards.size === this.#shards.size && [...shards].every((shard) => this.#shards.has(shard));
  }

  #drop(organizationId: string): void {
    for (const [id, rule] of this.#rules) if (rule.row.organization_id === organizationId) this.#forget(id);
    this.#loaded.delete(organizationId);
    this.#work = undefined;
  }

  async #load(organization: { id: string; slug: string }, revision: number, now: number): Promise<void> {
    const context = this.#context;
    const before = this.#loaded.get(organization.id);
    const { store } = context;
    const sources = await guarded(store, () => this.#sources.load(organization.id));
    const resolve: Parameters<typeof loadOrganizationRules>[1]['resolve'] = (kpi, entity) =>
      sources.resolve(kpi, entity);
    const request = { organization, revision, shards: this.#shards, window: this.#window, resolve };
    const rules = await guarded(store, () => loadOrganizationRules(store.db, request));
    const minute = Math.floor(now / 60_000);
    const rows = await guarded(store, () => episodesSince(store.db, organization.id, minute - LONGEST_REACH));
    this.#takeOver(rules, rows, before?.shards ?? new Set(), now);
    const shards = new Set(this.#shards.keys());
    const loaded: Loaded = { rules, units: toUnits(rules.rules), shards, isCurrent: false };
    this.#loaded.set(organization.id, loaded);
    this.#work = undefined;
    context.patterns.keepOnly(new Set(this.work().map(({ unit }) => unit.key)));
    try {
      await this.#settle(rules, rows, minute);
      loaded.isCurrent = true;
    } catch (error) {
      // It holds up no rule that can be evaluated.
      context.log.error({ err: error }, 'the end of alerts whose rules are gone could not be written yet');
    }
  }

  /** Writes what the rules that were read leave to be said: which of them cannot be evaluated, and the ends of what has lost its rule. */
  async #settle(rules: OrganizationRules, rows: readonly AlertEpisodeRow[], minute: number): Promise<void> {
    await recordUnusable(this.#context.store, rules.unusable, minute);
    await endOrphans(this.#context, rules, rows, minute);
    const used = new Set(rules.rules.map(({ source }) => source.id));
    await this.#context.watchdog.forget(rules.organization, used, minute, this.#shards.size === SHARDS);
  }

  #takeOver(
    { organization, rules, unusable, untold }: OrganizationRules,
    rows: readonly AlertEpisodeRow[],
    heldBefore: ReadonlySet<number>,
    now: number,
  ): void {
    const episodes = Map.groupBy(rows, ({ rule_id }) => rule_id);
    const current = new Set<string>();
    for (const rule of rules) {
      const { id } = rule.row;
      current.add(id);
      this.#rules.set(id, rule);
      const state = this.#context.states.get(id);
      if (state) continue;
      const lease = this.#shards.get(rule.shard)!;
      const own = keepReachable((episodes.get(id) ?? []).map(toEpisode), Math.floor(now / 60_000));
      const cursor = cursorOf(rule, own, heldBefore.has(rule.shard) ? undefined : lease, now);
      this.#context.states.set(id, {
        ...newRuleState(cursor, own),
        hasStoredError: rule.row.error_since !== null,
        hasUntoldEnds: untold.has(id),
      });
    }
    for (const rule of unusable) {
      current.add(rule.row.id);
      this.#rules.set(rule.row.id, rule);
      this.#context.states.delete(rule.row.id);
    }
    for (const [id, rule] of this.#rules) {
      if (rule.row.organization_id === organization.id && !current.has(id)) this.#forget(id);
    }
  }

  /** Every unit; the same objects until something is read anew. */
  work(): readonly WorkItem[] {
    this.#work ??= [...this.#loaded.values()].flatMap(({ units, rules }) =>
      units.map((unit) => ({ unit, organization: rules, settled: 0 })),
    );
    return this.#work;
  }

  organization(id: string): OrganizationRules | undefined {
    return this.#loaded.get(id)?.rules;
  }

  rule(id: string): EvaluatedRule | UnusableRule | undefined {
    return this.#rules.get(id);
  }

  get unusable(): number {
    return [...this.#loaded.values()].reduce((sum, { rules }) => sum + rules.unusable.length, 0);
  }

  /** The last minute that every rule of a shard has had, those apart that cannot be evaluated: the store knows since when. */
  evaluatedMinutes(): ReadonlyMap<number, number> {
    const least = new Map<number, number>();
    for (const [id, { shard }] of this.#rules) {
      const state = this.#context.states.get(id);
      if (state && !state.failing) least.set(shard, Math.min(least.get(shard) ?? state.cursor, state.cursor));
    }
    return least;
  }
}

/**
 * The last minute that a rule has had, for one whose memory is new. A rule that another process had goes on where that left
 * it, or where it began to fail; a rule that is new begins with the minute that is due.
 */
function cursorOf(rule: EvaluatedRule, episodes: RuleState['episodes'], lease: Lease | undefined, now: number): number {
  const due = dueMinute(now, rule.source.client.evaluationDelay, 0);
  const told = Math.max(0, ...episodes.map(({ firedMinute, resolvedMinute }) => resolvedMinute ?? firedMinute));
  if (lease === undefined || lease.evaluatedMinute === 0) return Math.max(due - 1, told);
  const created = Math.floor(rule.row.created_at / 60) - 1;
  const failing = rule.row.error_since === null ? Number.POSITIVE_INFINITY : Math.floor(rule.row.error_since / 60) - 1;
  return Math.max(Math.min(lease.evaluatedMinute, failing), Math.min(created, due - 1), told);
}
