/** What the parts of the evaluator share. */
import type { FastifyBaseLogger } from 'fastify';
import type { RangeAnswer, RangeRequest } from '../data-source/source.ts';
import type { ResolvedSource } from '../data-source/sources.ts';
import type { Store } from '../metadata/store.ts';
import type { EvaluatedRule } from './evaluated-rule.ts';
import type { EvaluatorMetrics } from './metrics.ts';
import type { PatternHistories } from './pattern-judge.ts';
import type { RuleState } from './rule-state.ts';
import type { ShardLeases } from './shards.ts';
import type { Watchdog } from './watchdog.ts';

export interface EvaluatorContext {
  readonly store: Store;
  readonly leases: ShardLeases;
  readonly log: FastifyBaseLogger;
  readonly metrics: EvaluatorMetrics;
  readonly watchdog: Watchdog;
  readonly patterns: PatternHistories;
  /** By rule id. */
  readonly states: Map<string, RuleState>;
  /** Series of one rule at most. */
  readonly seriesLimit: number;
  /** Address of the dashboard, without a slash at its end. */
  readonly publicUrl: string;
  /** Unix milliseconds. */
  now(): number;
  /** Asks a data source: so many queries at a time, and once more after a failure of the source. @throws SourceError */
  ask(source: ResolvedSource, request: RangeRequest): Promise<RangeAnswer>;
  /** Writes since when rules cannot be evaluated, for those that the store does not know of yet. */
  recordErrors(rules: readonly { rule: EvaluatedRule; state: RuleState }[], minute: number): Promise<void>;
}
