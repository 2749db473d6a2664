/** How large an event must be to be seen, by tolerance, on Gaussian noise with a standard deviation of 1. */
import { Random } from '../../packages/model/test/pattern/random.ts';
import { addScore, emptyScore, recall, type Score } from '../../packages/model/test/pattern/score.ts';
import { DAY, DAYS, type EventKind, type InjectedEvent } from '../../packages/model/test/pattern/synthetic.ts';
import { badMinutes, FROM, MACRO_OF, TO } from './detect.ts';

/** What is injected for each kind. */
export const SIZED: Readonly<Record<EventKind, string>> = {
  spike: 'spike of one minute',
  changepoint: 'step',
  trend: 'ramp of two hours, in all',
};

const SIZES = Array.from({ length: 41 }, (_, i) => 2 + 0.25 * i);
const SERIES = 4;

/** For each tolerance the smallest size from which on 50 and 95 % are seen, of 2 to 12 in steps of a quarter. */
export function sizesSeen(kind: EventKind, tolerances: readonly number[], seed: number): (readonly [string, string])[] {
  const recalls = tolerances.map(() => [] as number[]);
  for (const size of SIZES) {
    const scores = tolerances.map(() => emptyScore());
    for (let i = 0; i < SERIES; i++) addSeries(kind, size, seed + i, tolerances, scores);
    for (const [i, score] of scores.entries()) recalls[i]!.push(recall(score));
  }
  return recalls.map((all) => [smallest(all, 0.5), smallest(all, 0.95)] as const);
}

function smallest(recalls: readonly number[], share: number): string {
  const at = recalls.findIndex((value) => value >= share);
  if (at === -1) return `> ${SIZES.at(-1)}`;
  return at === 0 ? `≤ ${SIZES[0]}` : String(SIZES[at]);
}

/** An upward event about every ten hours; steps and ramps go back, all at once, five hours later. */
function addSeries(
  kind: EventKind,
  size: number,
  seed: number,
  tolerances: readonly number[],
  scores: readonly Score[],
): void {
  const random = new Random(seed);
  const values = Float64Array.from({ length: DAYS * DAY }, () => random.normal());
  const events: InjectedEvent[] = [];
  for (let start = FROM + 100; start < TO - 400; start += random.integer(540, 660)) {
    const end = kind === 'trend' ? start + 119 : start;
    const last = kind === 'spike' ? start : start + 299;
    for (let i = start; i <= last; i++) values[i]! += size * Math.min((i - start + 1) / (end - start + 1), 1);
    events.push({ kind, direction: 1, start, end });
  }
  for (const [i, score] of scores.entries()) {
    const isBad = badMinutes(MACRO_OF[kind][1], tolerances[i]!, values);
    addScore(score, isBad, FROM, TO, { kind, direction: 1 }, { events, glitches: [] });
  }
}
