/** The evaluator: holds its share of the rules and evaluates each of them every minute. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import { SourceError } from '../data-source/source.ts';
import type { Sources } from '../data-source/sources.ts';
import type { Store } from '../metadata/store.ts';
import type { DataSourceOutageRow } from '../metadata/tables.ts';
import { createAsk } from './ask.ts';
import { evaluateUnit } from './evaluate-unit.ts';
import type { EvaluatedRule, UnusableRule, WindowOptions } from './evaluated-rule.ts';
import type { EvaluatorContext } from './evaluator-context.ts';
import { createEvaluatorMetrics, type EvaluatorGauges } from './metrics.ts';
import { createPatternHistories } from './pattern-judge.ts';
import { recordErrors } from './record-errors.ts';
import type { RuleState } from './rule-state.ts';
import { createShardLeases, databaseClock, LEASE, LeaseLost, RENEWAL } from './shards.ts';
import { dueMinute } from './slots.ts';
import type { Unit } from './unit.ts';
import { createWatchdog } from './watchdog.ts';
import { Workload } from './workload.ts';

/** Milliseconds between two looks for what is due. */
const LOOK = 500;

/** Milliseconds that a unit rests when its result could not be written, so that a store that is away costs the data sources little. */
const REST = 5_000;

export interface EvaluatorOptions {
  readonly store: Store;
  readonly sources: Sources;
  readonly log: FastifyBaseLogger;
  readonly registry: Registry;
  /** Where this process' API answers, for other processes; empty: nowhere yet. */
  readonly address: () => string;
  /** Address of the dashboard, without a slash at its end. */
  readonly publicUrl: () => string;
  readonly window: WindowOptions;
  /** Series of one rule at most. */
  readonly seriesLimit: number;
  /** Milliseconds before a failed query is asked again; random unless given. */
  readonly retryDelay?: () => number;
}

/** A rule of this process, and where it stands. */
export interface RuleView {
  readonly rule: EvaluatedRule | UnusableRule;
  /** Undefined: not evaluated yet, or not evaluable. */
  readonly state: RuleState | undefined;
}

export interface Evaluator {
  readonly id: string;
  /** Begins to evaluate in the background. */
  start(): void;
  /** Lets what is under way finish, and gives the shards back. */
  stop(): Promise<void>;
  /** One look: renews leases, reads what has changed, and evaluates all that is due now. For tests with a clock of their own. */
  tick(): Promise<void>;
  rules(organizationId: string): readonly RuleView[];
  rule(ruleId: string): RuleView | undefined;
  readonly outages: ReadonlyMap<string, DataSourceOutageRow>;
}

export function createEvaluator(options: EvaluatorOptions): Evaluator {
  return new StoreEvaluator(options);
}

class StoreEvaluator implements Evaluator {
  readonly id = randomUUID();
  readonly #options: EvaluatorOptions;
  readonly #context: EvaluatorContext;
  readonly #workload: Workload;
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  /** Units whose result could not be written, and until when they rest, by `performance.now()`. */
  readonly #restUntil = new Map<string, number>();
  #renewedAt = Number.NEGATIVE_INFINITY;
  #loop: Promise<void> | undefined;

  constructor(options: EvaluatorOptions) {
    this.#options = options;
    this.#context = createContext(options, this.id, () => this.#gauges());
    this.#workload = new Workload(this.#context, options.sources, options.window);
  }

  get outages(): ReadonlyMap<string, DataSourceOutageRow> {
    return this.#context.watchdog.outages;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#look().catch((error: unknown) => this.#complain(error, 'the evaluator could not look for work'));
      await sleep(LOOK, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await Promise.all(this.#running.values());
    const evaluated = this.#workload.evaluatedMinutes();
    await this.#context.leases.release((shard) => evaluated.get(shard) ?? 0).catch(() => undefined);
  }

  async tick(): Promise<void> {
    // The clock of the machine decides nothing here.
    this.#restUntil.clear();
    this.#workload.rested();
    await this.#look();
    await Promise.all(this.#running.values());
  }

  async #look(): Promise<void> {
    const now = this.#context.now();
    if (now - this.#renewedAt >= RENEWAL || now < this.#renewedAt) await this.#renew(now);
    await this.#workload.refresh(now);
    for (const item of this.#workload.work()) {
      const { unit, organization } = item;
      const minute = dueMinute(now, unit.source.client.evaluationDelay, unit.slot);
      if (item.settled >= minute || this.#running.has(unit.key)) continue;
      if (!this.#isDue(unit, minute)) {
        item.settled = minute;
        continue;
      }
      if ((this.#restUntil.get(unit.key) ?? 0) > performance.now()) continue;
      const run = { unit, organization, minute, signal: this.#stopping.signal };
      const work = evaluateUnit(this.#context, run)
        .catch((error: unknown) => {
          this.#restUntil.set(unit.key, performance.now() + REST);
          this.#complain(error, 'what was evaluated could not be written', unit);
        })
        .finally(() => this.#running.delete(unit.key));
      this.#running.set(unit.key, work);
    }
  }

  /** A unit that failed at this minute is asked again at the next one. */
  #isDue(unit: Unit, minute: number): boolean {
    return unit.rules.some(({ row }) => {
      const state = this.#context.states.get(row.id);
      return state !== undefined && state.cursor < minute && (state.log.last?.minute ?? 0) < minute;
    });
  }

  async #renew(now: number): Promise<void> {
    const { leases, watchdog } = this.#context;
    try {
      const evaluated = this.#workload.evaluatedMinutes();
      await leases.renew((shard) => evaluated.get(shard) ?? 0);
      this.#renewedAt = now;
    } catch (error) {
      // Others may take the shards once the lease is over, and every write asks for it anyhow.
      if (now - this.#renewedAt > LEASE) this.#workload.keepShards(new Map());
      throw error;
    }
    this.#workload.keepShards(leases.held);
    await watchdog.refresh();
  }

  #complain(error: unknown, message: string, unit?: Unit): void {
    if (error instanceof LeaseLost) {
      this.#renewedAt = Number.NEGATIVE_INFINITY;
      this.#options.log.info({ query: unit?.query }, 'rules have gone to another process');
      return;
    }
    if (this.#stopping.signal.aborted && (error instanceof SourceError || isAbort(error))) return;
    this.#options.log.error({ err: error, query: unit?.query }, message);
  }

  rules(organizationId: string): readonly RuleView[] {
    const organization = this.#workload.organization(organizationId);
    if (!organization) return [];
    return [...organization.rules, ...organization.unusable].map((rule) => this.#viewOf(rule));
  }

  rule(ruleId: string): RuleView | undefined {
    const rule = this.#workload.rule(ruleId);
    return rule && this.#viewOf(rule);
  }

  #viewOf(rule: EvaluatedRule | UnusableRule): RuleView {
    return { rule, state: this.#context.states.get(rule.row.id) };
  }

  #gauges(): EvaluatorGauges {
    const states = [...this.#context.states.values()];
    const sum = (count: (state: RuleState) => number) => states.reduce((total, state) => total + count(state), 0);
    return {
      rules: states.length,
      unusable: this.#workload.unusable,
      failing: sum(({ failing }) => (failing ? 1 : 0)),
      withoutSeries: sum(({ emptySince }) => (emptySince === undefined ? 0 : 1)),
      series: sum(({ series }) => series.length),
      firing: sum(({ series }) => series.filter(({ state }) => state === 'firing').length),
      shards: this.#context.leases.held.size,
      outages: this.outages.size,
    };
  }
}

const isAbort = (error: unknown) => error instanceof Error && error.name === 'AbortError';

function createContext(options: EvaluatorOptions, id: string, gauges: () => EvaluatorGauges): EvaluatorContext {
  const { store, log, registry } = options;
  const metrics = createEvaluatorMetrics(registry, gauges);
  const retryDelay = options.retryDelay ?? (() => 1000 + Math.random() * 4000);
  const ask = createAsk({ measure: metrics.asked, retryDelay });
  const clock = databaseClock(store);
  const isAlive = async (evaluator: string) => {
    const row = await store.db
      .selectFrom('evaluators')
      .select('seen_at')
      .where('id', '=', evaluator)
      .executeTakeFirst();
    return row !== undefined && row.seen_at > (await clock(store.db)) - LEASE;
  };
  const leases = createShardLeases(store, { id, address: options.address, clock });
  return {
    store,
    log,
    metrics,
    ask,
    leases,
    watchdog: createWatchdog(store, { id, publicUrl: options.publicUrl, isAlive }),
    patterns: createPatternHistories(ask),
    states: new Map(),
    seriesLimit: options.seriesLimit,
    get publicUrl() {
      return options.publicUrl();
    },
    now: store.now,
    recordErrors: (rules, minute) => recordErrors(store, leases, rules, minute),
  };
}
