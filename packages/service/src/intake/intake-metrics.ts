/** What intake counts, in the Prometheus text format. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { ByteBudget } from './byte-budget.ts';

export interface IntakeMetrics {
  /** Batches by what became of them: `stored`, `duplicate`, `probe`, or the code of a refusal. */
  batch(endpoint: string, outcome: string): void;
  accepted(dataset: string, records: number): void;
  rejected(reason: string, records: number): void;
  /** Decompressed bytes. */
  received(bytes: number): void;
}

export function createIntakeMetrics(registry: Registry, budget: ByteBudget): IntakeMetrics {
  const registers = [registry];
  const batches = new Counter({
    name: 'obsiac_intake_batches_total',
    help: 'Batches delivered, by what became of them.',
    labelNames: ['endpoint', 'outcome'],
    registers,
  });
  const records = new Counter({
    name: 'obsiac_intake_records_total',
    help: 'Records stored for good, console lines and exceptions of workers included.',
    labelNames: ['dataset'],
    registers,
  });
  const rejects = new Counter({
    name: 'obsiac_intake_rejected_lines_total',
    help: 'Lines that were no records.',
    labelNames: ['reason'],
    registers,
  });
  const bytes = new Counter({
    name: 'obsiac_intake_bytes_total',
    help: 'Bytes delivered, after decompression.',
    registers,
  });
  new Gauge({
    name: 'obsiac_intake_memory_bytes',
    help: 'Memory held for batches under way.',
    registers,
    collect() {
      this.set(budget.used);
    },
  });
  new Gauge({
    name: 'obsiac_intake_memory_limit_bytes',
    help: 'Memory that batches under way may hold together.',
    registers,
    collect() {
      this.set(budget.limit);
    },
  });
  return {
    batch: (endpoint, outcome) => batches.inc({ endpoint, outcome }),
    accepted: (dataset, count) => records.inc({ dataset }, count),
    rejected: (reason, count) => rejects.inc({ reason }, count),
    received: (count) => bytes.inc(count),
  };
}
