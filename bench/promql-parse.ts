/**
 * `npm run bench -- promql-parse`: PromQL expressions parsed per second, beside the official lezer grammar.
 * Ours reads, type-checks and gives a syntax tree; lezer gives a concrete tree without types or messages, walked once
 * for errors. Both take the same texts in the same process, in turns; the median of the rounds counts.
 */
import os from 'node:os';
import { parser as lezer } from '@prometheus-io/lezer-promql';
import { canonicalText, parse, print } from '../packages/promql/src/index.ts';
import { VALID } from '../packages/promql/test/corpus.ts';
import { median, printTable } from './process.ts';

const ROUNDS = 7;
const ROUND_SECONDS = 0.25;

const ratio =
  'sum by (service) (rate(http_requests_total{job="api",status=~"5.."}[5m])) / sum by (service) (rate(http_requests_total{job="api"}[5m])) > 0.05';
const texts: readonly (readonly [string, readonly string[]])[] = [
  ['up == 0', ['up == 0']],
  [`error ratio, ${ratio.length} characters`, [ratio]],
  [
    'histogram_quantile',
    ['histogram_quantile(0.99, sum by (le, service) (rate(request_seconds_bucket{job="api"}[5m])))'],
  ],
  ['100 terms joined by or', [Array.from({ length: 100 }, (_, i) => `up{instance="host-${i}"}`).join(' or ')]],
  [`corpus, ${VALID.length} expressions`, VALID],
];

/** Parses per second over one round. */
function rate(queries: readonly string[], work: (query: string) => void): number {
  const started = performance.now();
  let count = 0;
  let elapsed = 0;
  while (elapsed < ROUND_SECONDS * 1000) {
    for (const query of queries) work(query);
    count += queries.length;
    elapsed = performance.now() - started;
  }
  return (count / elapsed) * 1000;
}

function withLezer(query: string): number {
  let errors = 0;
  lezer.parse(query).iterate({
    enter(node) {
      if (node.type.isError) errors++;
    },
  });
  return errors;
}

const workers = {
  ours: (query: string) => void parse(query),
  lezer: (query: string) => void withLezer(query),
  'ours, and print': (query: string) => {
    const result = parse(query);
    if (result.ok) print(result.expr);
  },
  'ours, and canonical text': (query: string) => {
    const result = parse(query);
    if (result.ok) canonicalText(result.expr);
  },
};

console.log(`node ${process.version}, ${os.cpus()[0]?.model ?? 'unknown processor'}, ${os.cpus().length} cores`);
const rows = texts.map(([name, queries]) => {
  const rates = Object.fromEntries(Object.keys(workers).map((key) => [key, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [key, work] of Object.entries(workers)) rates[key]!.push(rate(queries, work));
  }
  const medians = Object.keys(workers).map((key) => median(rates[key]!));
  const [ours, theirs] = medians as [number, number];
  return [name, ...medians.map((each) => Math.round(each).toLocaleString('en')), `${(ours / theirs).toFixed(1)}×`];
});
printTable(['parses a second', ...Object.keys(workers), 'ours / lezer'], rows);
