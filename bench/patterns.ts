/**
 * `npm run bench -- patterns [--seeds 101,102,103,104] [--noise 30] [--series FOLDER] [--sizes]`: how well the six
 * pattern macros see known events, beside detectors in common use, and what they cost.
 * Synthetic series have ten days; events begin on the fifth. Each baseline has the threshold that is best for it on this
 * very set; the macros have tolerance 5 throughout, and one row tells of their own best. `--noise` is the number of
 * series of pure noise of each kind. FOLDER holds real series with typed labels, laid out as the Numenta Anomaly
 * Benchmark (patterns/real-series.ts). `--sizes` adds how large an event must be to be seen, by tolerance.
 */
import { parseArgs } from 'node:util';
import { MACROS } from '../packages/model/src/index.ts';
import { delay, f1, falseAlarmsADay, precision, recall, type Score } from '../packages/model/test/pattern/score.ts';
import {
  type EventKind,
  FAMILIES,
  KINDS,
  type Synthetic,
  synthetic,
} from '../packages/model/test/pattern/synthetic.ts';
import { BASELINES } from './patterns/baselines.ts';
import {
  alarmsOnNoise,
  coldStart,
  cost,
  crossFiring,
  memory,
  NOISES,
  robustness,
  scoreReal,
  withGlitches,
  withMissing,
  worstCell,
} from './patterns/checks.ts';
import { scoreBaseline, scoreMacros } from './patterns/detect.ts';
import { readRealSeries } from './patterns/real-series.ts';
import { SIZED, sizesSeen } from './patterns/sizes.ts';
import { printTable } from './process.ts';

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '101,102,103,104' },
    noise: { type: 'string', default: '30' },
    series: { type: 'string' },
    sizes: { type: 'boolean', default: false },
  },
});
const SEEDS = options.seeds.split(',').map(Number);
const NOISE_SERIES = Number(options.noise);

type Row = readonly (string | number)[];
const targets: Row[] = [];

function target(what: string, value: number, sign: '≥' | '≤', limit: number, digits = 3): void {
  const reached = sign === '≥' ? value >= limit : value <= limit;
  targets.push([what, value.toFixed(digits), `${sign} ${limit}`, reached ? 'reached' : 'MISSED']);
}

function title(text: string): void {
  console.log(`\n${text}`);
}

const setOf = (kind: EventKind): Synthetic[] =>
  FAMILIES.flatMap((family) => SEEDS.map((seed) => synthetic(family, kind, seed)));
const sets = { spike: setOf('spike'), changepoint: setOf('changepoint'), trend: setOf('trend') };

function scoreRow(name: string, score: Score): Row {
  const figures = [recall(score), precision(score), f1(score), falseAlarmsADay(score)].map((x) => x.toFixed(3));
  return [name, ...figures, delay(score, 0.5), delay(score, 0.9)];
}

const series = KINDS.length * sets.spike.length;
console.log(`${series} synthetic series of ten days, ${FAMILIES.length} families, seeds ${SEEDS.join(', ')}`);

const TOLERANCES = [2, 3, 4, 7];
const LIMITS = { spike: [0.72, 0.25], changepoint: [0.89, 0.03], trend: [0.89, 0.02] } as const;
for (const kind of KINDS) {
  const ours = scoreMacros(kind, sets[kind], 5);
  title(`${kind}: ${ours.events} events; delays in minutes from the start of the event`);
  const rows = BASELINES[kind].map(({ name, score }) => scoreRow(name, scoreBaseline(kind, sets[kind], score)));
  const header = [kind, 'recall', 'precision', 'F1', 'false alarms a day', 'delay p50', 'p90'];
  const best = TOLERANCES.map((tolerance) => ({ tolerance, score: scoreMacros(kind, sets[kind], tolerance) }));
  best.sort((a, b) => f1(b.score) - f1(a.score));
  const { tolerance, score } = best[0]!;
  printTable(header, [
    scoreRow('macros of Obsiac, tolerance 5', ours),
    scoreRow(`the same, best tolerance (${tolerance})`, score),
    ...rows,
  ]);
  target(`${kind}: F1`, f1(ours), '≥', LIMITS[kind][0]);
  if (kind === 'spike') target('spike: recall', recall(ours), '≥', 0.68);
  target(`${kind}: false alarms a day`, falseAlarmsADay(ours), '≤', LIMITS[kind][1]);
  if (kind === 'changepoint') {
    target('changepoint: delay p50, min', delay(ours, 0.5), '≤', 8, 0);
    target('changepoint: delay p90, min', delay(ours, 0.9), '≤', 12, 0);
  }
  if (kind === 'trend') target('trend: delay p50, min', delay(ours, 0.5), '≤', 80, 0);
}

title('False alarms a day on pure noise, both directions, tolerance 5');
const noiseNames = Object.keys(NOISES) as (keyof typeof NOISES)[];
const noise = KINDS.map((kind) => noiseNames.map((name) => alarmsOnNoise(kind, name, 5, NOISE_SERIES, SEEDS[0]!)));
printTable(
  ['', ...noiseNames],
  KINDS.map((kind, i) => [kind, ...noise[i]!.map((x) => x.toFixed(3))]),
);
for (const [i, kind] of KINDS.entries())
  target(`Gaussian noise, ${kind}: false alarms a day`, noise[i]![0]!, '≤', 0.02);
target('lognormal(.5) noise, spike: false alarms a day', noise[0]![1]!, '≤', 0.5);
target('AR(.8) noise, changepoint: false alarms a day', noise[1]![2]!, '≤', 0.1);

if (options.sizes) {
  title('Size seen in 50 and 95 of 100 cases on Gaussian noise, in standard deviations of a minute, by tolerance');
  const tolerances = [0, 2, 4, 5, 7, 9, 10];
  printTable(
    ['', ...tolerances.map(String)],
    KINDS.map((kind) => [
      SIZED[kind],
      ...sizesSeen(kind, tolerances, SEEDS[0]!).map(([half, most]) => `${half} / ${most}`),
    ]),
  );
}

title('Which macro fires on what: rows are injected, columns fired (shares of events)');
const cross = crossFiring(sets, 5);
printTable(
  ['', ...cross.map(({ injected }) => injected)],
  cross.map(({ injected, fired }) => [injected, ...fired.map(({ share }) => share.toFixed(2))]),
);
const kindIn = (macro: string, kind: string) => macro.endsWith(kind);
const rising = (macro: string) => /^(high|inc)/.test(macro);
target(
  'spike seen as changepoint',
  worstCell(cross, (a, b) => kindIn(a, 'spike') && kindIn(b, 'changepoint')),
  '≤',
  0.03,
);
target(
  'step seen as trend',
  worstCell(cross, (a, b) => kindIn(a, 'changepoint') && kindIn(b, 'trend')),
  '≤',
  0.08,
);
target(
  'seen in the opposite direction',
  worstCell(cross, (a, b) => rising(a) !== rising(b)),
  '≤',
  0.04,
);

title('Robustness: recall before and after, false alarms a day after');
const robust: Row[] = [];
const glitched = robustness('spike', sets.spike, withGlitches(sets.spike, SEEDS[0]!));
robust.push([
  'spike, a sample × 1000 before each',
  ...[glitched.before, glitched.after, glitched.alarms].map((x) => x.toFixed(3)),
]);
target('× 1000 glitch: recall lost', glitched.lost, '≤', 0.05);
for (const kind of KINDS) {
  for (const share of [0.05, 0.2, 0.4]) {
    const { before, after, alarms, lost } = robustness(kind, sets[kind], withMissing(sets[kind], share, SEEDS[0]!));
    robust.push([`${kind}, ${100 * share} % missing`, ...[before, after, alarms].map((x) => x.toFixed(3))]);
    if (share === 0.4) target(`40 % missing, ${kind}: recall lost`, lost, '≤', 0.1);
  }
}
printTable(['', 'before', 'after', 'false alarms a day'], robust);

title('False alarms a day while the history grows');
const cold = KINDS.map((kind) => [0, 24, 72].map((from, i) => coldStart(kind, sets[kind], from, [24, 72, 96][i]!)));
printTable(
  ['', '0-24 h', '24-72 h', '72-96 h'],
  KINDS.map((kind, i) => [kind, ...cold[i]!.map((x) => x.toFixed(3))]),
);
for (const [i, kind] of KINDS.entries()) {
  target(`0-24 h of history, ${kind}: false alarms a day`, cold[i]![0]!, '≤', [0.6, 0.4, 0.2][i]!);
}

if (options.series !== undefined) {
  title('Real series: labels seen, false alarms in 1,440 samples');
  const set = readRealSeries(options.series);
  const rows: Row[] = [];
  for (const kind of ['spike', 'changepoint'] as const) {
    const scores = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((tolerance) => scoreReal(kind, set, tolerance));
    for (const { tolerance, hits, labels, alarms } of scores) {
      rows.push([`${kind}, tolerance ${tolerance}`, `${hits} of ${labels}`, alarms.toFixed(3)]);
    }
    const allowed = scores.filter(({ alarms }) => alarms <= 0.5).map(({ hits }) => hits);
    target(
      `real series, ${kind}: seen at ≤ 0.5 false alarms`,
      Math.max(0, ...allowed),
      '≥',
      kind === 'spike' ? 10 : 9,
      0,
    );
  }
  printTable(['', 'seen', 'false alarms'], rows);
}

title('Cost: microseconds for one minute of one series, a refresh of the history every tenth minute; bytes kept');
const sample = sets.spike.find(({ family }) => family === 'diurnal')!.values;
const costs = MACROS.map((macro) => ({ ...cost(macro, sample, 1000), ...memory(macro, sample) }));
printTable(
  ['', 'p50', 'p99', 'mean', 'refresh', 'kB built', 'kB with its samples'],
  costs.map(({ macro, p50, p99, mean, refresh, built, samples }) => [
    macro,
    ...[p50, p99, mean, refresh].map((x) => x.toFixed(1)),
    (built / 1000).toFixed(1),
    ((built + samples) / 1000).toFixed(1),
  ]),
);
target('µs of one evaluation, p50', Math.max(...costs.map(({ p50 }) => p50)), '≤', 50, 1);
target('µs of one evaluation, p99', Math.max(...costs.map(({ p99 }) => p99)), '≤', 2000, 1);
target('kB of a series', Math.max(...costs.map(({ built, samples }) => (built + samples) / 1000)), '≤', 40, 1);

title('Targets');
printTable(['', 'measured', 'target', ''], targets);
