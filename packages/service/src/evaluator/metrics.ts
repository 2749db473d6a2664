/** The evaluator's measures of itself. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { EvaluatedRule } from './evaluated-rule.ts';
import type { Unit } from './unit.ts';

export interface EvaluatedMinutes {
  /** Minutes that no evaluation will make good. */
  readonly skipped: number;
  /** Minutes that were evaluated after their time. */
  readonly late: number;
  readonly minute: number;
  /** Seconds after the minute at which its query is asked, that of late samples aside. */
  readonly slot: number;
  /** The rule has just come to this process: its minute was due before. */
  readonly isFirst: boolean;
  readonly nowMs: number;
}

export interface EvaluatorMetrics {
  evaluated(rule: EvaluatedRule, minutes: EvaluatedMinutes): void;
  failed(unit: Unit, code: string, rules: number): void;
  /** @param seconds until the data source had answered, or not */
  asked(source: string, seconds: number, ok: boolean): void;
}

/** What is counted when somebody asks. */
export interface EvaluatorGauges {
  readonly rules: number;
  readonly unusable: number;
  readonly failing: number;
  readonly withoutSeries: number;
  readonly series: number;
  readonly firing: number;
  readonly shards: number;
  readonly outages: number;
}

export function createEvaluatorMetrics(registry: Registry, gauges: () => EvaluatorGauges): EvaluatorMetrics {
  const registers = [registry];
  const lag = new Histogram({
    name: 'obsiac_evaluator_lag_seconds',
    help: 'From the moment a minute was due to the end of its evaluation.',
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    registers,
  });
  const minutes = new Counter({
    name: 'obsiac_evaluator_minutes_total',
    help: 'Minutes of rules: evaluated in time, evaluated late, or missed for good.',
    labelNames: ['result'],
    registers,
  });
  const failures = new Counter({
    name: 'obsiac_evaluator_failed_evaluations_total',
    help: 'Evaluations of rules that had no answer, by the reason.',
    labelNames: ['reason'],
    registers,
  });
  const latency = new Histogram({
    name: 'obsiac_data_source_query_seconds',
    help: 'Time until a data source had answered a query of the evaluator.',
    labelNames: ['data_source', 'result'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers,
  });
  registerGauges(registry, gauges);
  return {
    evaluated: (rule, { skipped, late, minute, slot, isFirst, nowMs }) => {
      if (skipped > 0) minutes.inc({ result: 'missed' }, skipped);
      if (late > 0) minutes.inc({ result: 'late' }, late);
      minutes.inc({ result: 'in_time' });
      if (!isFirst) lag.observe(Math.max(nowMs / 1000 - minute * 60 - rule.source.client.evaluationDelay - slot, 0));
    },
    failed: (_unit, code, rules) => failures.inc({ reason: code }, rules),
    asked: (source, seconds, ok) => latency.observe({ data_source: source, result: ok ? 'ok' : 'error' }, seconds),
  };
}

const GAUGES: Readonly<Record<keyof EvaluatorGauges, readonly [name: string, help: string]>> = {
  rules: ['obsiac_evaluator_rules', 'Rules that this process evaluates.'],
  unusable: ['obsiac_evaluator_unusable_rules', 'Rules that cannot be evaluated as they stand.'],
  failing: ['obsiac_evaluator_failing_rules', 'Rules whose last evaluation had no answer.'],
  withoutSeries: ['obsiac_evaluator_rules_without_series', 'Rules whose query found no series at the last evaluation.'],
  series: ['obsiac_evaluator_series', 'Series that the last evaluations found.'],
  firing: ['obsiac_evaluator_firing_series', 'Series that fire.'],
  shards: ['obsiac_evaluator_shards', 'Shards of the rules that this process holds.'],
  outages: ['obsiac_data_source_outages', 'Data sources that have not answered for three minutes.'],
};

function registerGauges(registry: Registry, gauges: () => EvaluatorGauges): void {
  for (const [key, [name, help]] of Object.entries(GAUGES)) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(gauges()[key as keyof EvaluatorGauges]);
      },
    });
  }
}
