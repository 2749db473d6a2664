/** Series notation beside promtool, whose format it is: what our engine reads must be what promtool's tests see. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { debianBinaryOrReason } from '../../../../tasks/debian.ts';
import { queryInstant } from '../../src/eval/query.ts';
import { formatLabels } from '../../src/series/labels.ts';
import { readNotation } from '../../src/series/notation.ts';
import { formatPlain } from '../../src/series/numbers.ts';
import { MemoryStorage } from '../../src/storage/memory.ts';
import { parse } from '../../src/syntax/parser.ts';
import { Random } from './random.ts';

const INTERVAL = 60_000;
const { binary, reason } = await debianBinaryOrReason({ package: 'promtool', suite: 'sid', binary: 'promtool' });

function sequence(random: Random): string {
  const number = () =>
    random.pick([
      String(random.integer(-9, 99)),
      random.next().toFixed(4),
      '1e2',
      '2.5e-3',
      '-.5',
      '7.',
      'NaN',
      'Inf',
      '-Inf',
      '+3',
    ]);
  const delta = () => random.pick(['+', '-']) + random.pick(['1', '0.1', '2e1', '.25', '0']);
  const item = () =>
    random.weighted<() => string>([
      [4, number],
      [4, () => `${number()}${delta()}x${random.integer(0, 6)}`],
      [2, () => `${random.pick(['3', '-0.5', '1e1', '.5'])}x${random.integer(0, 6)}`],
      [2, () => '_'],
      [2, () => `_x${random.integer(0, 7)}`],
      [1, () => 'stale'],
    ])();
  return Array.from({ length: random.integer(1, 8) }, item).join(random.pick([' ', '  ']));
}

/** A promtool test file that expects what our engine answers. JSON is YAML. */
async function testFile(lines: readonly string[]): Promise<string> {
  const { series, problems } = readNotation(lines.join('\n'), { start: 0, interval: INTERVAL });
  expect(problems).toEqual([]);
  const storage = new MemoryStorage().add(series);
  const promql_expr_test: unknown[] = [];
  // What promtool expects can never be NaN, so NaN is left out of values; that it is there, the counts tell.
  for (const query of ['x == x', 'count_over_time(x[7m])', 'last_over_time(x[3m]) >= -Inf', 'rate(x[10m]) >= -Inf']) {
    for (let minute = 0; minute < 40; minute += 3) {
      const parsed = parse(query);
      if (!parsed.ok) throw new Error(query);
      const { data } = await queryInstant(parsed.expr, { storage, time: minute * INTERVAL });
      if (data.type !== 'vector') throw new Error(data.type);
      const exp_samples = data.samples.map(({ labels, value }) => ({
        labels: formatLabels(labels),
        value: Number.isFinite(value) ? value : formatPlain(value).replace('Inf', '.inf'),
      }));
      promql_expr_test.push({ expr: query, eval_time: `${minute}m`, exp_samples });
    }
  }
  const input_series = lines.map((line) => {
    const end = line.indexOf('}') + 1;
    return { series: line.slice(0, end), values: line.slice(end + 1) };
  });
  const file = {
    rule_files: [],
    evaluation_interval: '1m',
    fuzzy_compare: true,
    tests: [{ interval: '1m', input_series, promql_expr_test }],
  };
  return JSON.stringify(file, undefined, 1).replace(/"([+-]?\.inf)"/g, '$1');
}

describe.skipIf(reason !== undefined)(`beside promtool${reason ? ` (skipped, ${reason})` : ''}`, () => {
  test('random sequences', async () => {
    const random = new Random(7);
    const lines = Array.from({ length: 150 }, (_, i) => `x{i="${i}"} ${sequence(random)}`);
    const folder = await mkdtemp(join(tmpdir(), 'notation-'));
    try {
      const file = join(folder, 'test.yaml');
      await writeFile(file, await testFile(lines));
      const { stdout, stderr } = await promisify(execFile)(binary!.path, ['test', 'rules', file]).catch(
        (error: { stdout: string; stderr: string }) => error,
      );
      expect(stdout + stderr).toContain('SUCCESS');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
