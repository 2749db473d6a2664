/** Aggregations that pick or count values: topk, bottomk, count_values. */
import { withLabels } from '../series/labels.ts';
import { formatPlain } from '../series/numbers.ts';
import type { Aggregate } from '../syntax/ast.ts';
import { groupLabels, groupsOf } from './aggregate.ts';
import { type Column, emptyColumn, hasAny, joinEqual } from './columns.ts';
import type { Context } from './context.ts';
import { QueryError } from './errors.ts';

const MAX_INT64 = 2 ** 63;

/** topk and bottomk: at each step the k best series of each group keep their value, with all their labels. */
export async function pick(
  expr: Aggregate,
  input: readonly Column[],
  param: Float64Array,
  context: Context,
): Promise<readonly Column[]> {
  const columns = input.filter(hasAny);
  if (columns.length === 0 || param.every((k) => k < 1)) return [];
  checkCounts(param, expr);
  const sign = expr.op === 'topk' ? 1 : -1;
  const out: Column[] = [];
  for (const { members } of groupsOf(columns, expr)) {
    const count = param.length;
    const kept = members.map(() => new Uint8Array(count));
    const best = new Best(members, sign);
    for (let step = 0; step < count; step++) {
      for (const index of best.at(step, Math.min(Math.trunc(param[step]!), members.length))) kept[index]![step] = 1;
      if (context.spend(members.length)) await context.pause();
    }
    const picked = members.map(({ labels, values }, i) => ({ labels, values, present: kept[i]! }));
    // One step is an instant query, whose answer is in order.
    if (count === 1) out.push(...best.order().map((index) => picked[index]!));
    else out.push(...picked);
  }
  return out;
}

function checkCounts(param: Float64Array, expr: Aggregate): void {
  const refuse = (what: string) =>
    new QueryError('bad_parameter', `The number of series of ${expr.op} ${what}.`, expr.span);
  for (const k of param) {
    if (Number.isNaN(k)) throw refuse('is NaN');
    if (k >= MAX_INT64 || k <= -MAX_INT64) throw refuse(`, ${formatPlain(k)}, is out of range`);
  }
}

/**
 * The best values of one step as a heap with the worst of them at its root. Of equal values the one that was there
 * first stays, in the order of a binary heap, so that ties fall as they do in Prometheus.
 */
class Best {
  readonly #members: readonly Column[];
  readonly #sign: 1 | -1;
  #heap: number[] = [];
  #step = 0;

  constructor(members: readonly Column[], sign: 1 | -1) {
    this.#members = members;
    this.#sign = sign;
  }

  /** Indices of the k best members at a step; fewer when fewer have a value. */
  at(step: number, k: number): readonly number[] {
    this.#heap = [];
    this.#step = step;
    if (k < 1) return this.#heap;
    for (let index = 0; index < this.#members.length; index++) {
      if (this.#members[index]!.present[step] === 0) continue;
      if (this.#heap.length < k) this.#push(index);
      else if (this.#replaces(this.#heap[0]!, index)) {
        this.#heap[0] = index;
        this.#sink();
      }
    }
    return this.#heap;
  }

  /** The indices of the last call of `at`, best first. */
  order(): number[] {
    return [...this.#heap].sort((a, b) => (this.#worse(b, a) ? -1 : this.#worse(a, b) ? 1 : 0));
  }

  #value(index: number): number {
    return this.#members[index]!.values[this.#step]! * this.#sign;
  }

  /** The heap's order: NaN is worst. */
  #worse(a: number, b: number): boolean {
    const value = this.#value(a);
    return Number.isNaN(value) || value < this.#value(b);
  }

  #replaces(root: number, index: number): boolean {
    const worst = this.#value(root);
    const value = this.#value(index);
    return worst < value || (Number.isNaN(worst) && !Number.isNaN(value));
  }

  #push(index: number): void {
    const heap = this.#heap;
    let at = heap.push(index) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#worse(heap[at]!, heap[parent]!)) break;
      [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
      at = parent;
    }
  }

  #sink(): void {
    const heap = this.#heap;
    for (let at = 0; ; ) {
      let child = 2 * at + 1;
      if (child >= heap.length) return;
      if (child + 1 < heap.length && this.#worse(heap[child + 1]!, heap[child]!)) child++;
      if (!this.#worse(heap[child]!, heap[at]!)) return;
      [heap[at], heap[child]] = [heap[child]!, heap[at]!];
      at = child;
    }
  }
}

/** count_values: one series for each value of each group, the value in the label named. */
export async function countValues(
  expr: Aggregate,
  columns: readonly Column[],
  label: string,
  context: Context,
): Promise<readonly Column[]> {
  if (label === '') throw new QueryError('bad_label', 'The label name of count_values is empty.', expr.span);
  const grouping: Aggregate = expr.without ? expr : { ...expr, grouping: [...expr.grouping, label] };
  const out = new Map<string, Column>();
  for (const { labels, values, present } of columns) {
    const targets = new Map<string, Column>();
    for (let i = 0; i < values.length; i++) {
      if (present[i] === 0) continue;
      const text = formatPlain(values[i]!);
      let target = targets.get(text);
      if (!target) {
        const grouped = groupLabels(withLabels(labels, [[label, text]]), grouping);
        target = out.get(grouped.key) ?? emptyColumn(grouped, values.length);
        out.set(grouped.key, target);
        targets.set(text, target);
        context.checkSize(out.size * values.length, expr.span);
      }
      target.values[i]! += 1;
      target.present[i] = 1;
    }
    if (context.spend(values.length)) await context.pause();
  }
  return joinEqual([...out.values()], expr.span);
}
