/** `obsiac alerts` and `obsiac explain` against a service that evaluates a rule on a real data source. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../packages/cli/test/run-cli.ts';
import { isMissing, useWorlds } from './servers.ts';
import type { World } from './world.ts';

const worlds = useWorlds();

describe.skipIf(isMissing)('the command line beside an evaluator', () => {
  let world: World;
  beforeAll(async () => {
    world = await worlds.open();
    await world.rule({ rule_name: 'Too many errors' });
    await world.write([1, 9, 9, 9, 9, 1, 1, 1, 1, 1, 1, 1], { labels: { host: 'a' } });
    await world.write([1, 1, 1, 9, 1, 1, 1, 1, 1, 1, 1, 1], { labels: { host: 'b' } });
  });

  const run = (...argv: string[]) => {
    const file = world.app.configFile!;
    expect(readFileSync(file, 'utf8')).toContain('api_config');
    return runCli(['-c', file, ...argv], { cwd: path.dirname(file) });
  };
  const rows = (stdout: string) =>
    stdout
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/ {2,}/));

  it('shows nothing, then what is pending, fires, and has resolved', async () => {
    await world.until(1);
    expect(await run('alerts')).toMatchObject({ code: 0, stdout: '', stderr: 'Nothing fires.\n' });

    await world.until(4);
    const firing = await run('alerts');
    expect(firing).toMatchObject({ code: 0, stderr: '' });
    expect(rows(firing.stdout)).toMatchObject([
      [
        'firing',
        'breach',
        'Shop 1',
        'Too many errors',
        '9',
        '3/5',
        '2026-06-01T12:03:00Z',
        expect.any(String),
        'host=a',
      ],
    ]);
    const all = rows((await run('alerts', '--state', 'all')).stdout);
    expect(all.map((row) => [row[0], row.at(-1)])).toEqual([
      ['firing', 'host=a'],
      ['pending', 'host=b'],
    ]);

    await world.until(12);
    const ended = rows((await run('alerts', '--state', 'all')).stdout);
    expect(ended.map((row) => row.slice(0, 7))).toEqual([
      ['resolved', 'breach', 'Shop 1', 'Too many errors', '9', '-', '2026-06-01T12:09:00Z'],
    ]);
    const then = await run('alerts', '--at', '2026-06-01T12:04:00Z');
    expect(rows(then.stdout).map((row) => row.slice(0, 6))).toEqual([
      ['firing', 'breach', 'Shop 1', 'Too many errors', '9', '-'],
    ]);
  });

  it('explains the rule', async () => {
    const { code, stdout } = await run('explain', 'Too many errors');
    expect(code).toBe(0);
    expect(stdout.replace(/\s+/g, ' ')).toContain('is greater than 5 in at least 3 of the last 5 minutes');
    expect(stdout).toMatch(/ {2}Data source {3}metrics\n/);
    expect(stdout).toMatch(/ {2}State {9}normal: 0 series firing, 0 pending, 2 normal\n/);
    expect(stdout).toMatch(/ {2}Last fired {4}2026-06-01T12:03:00Z for \d+m, worst value 9 {2}host=a\n/);
    expect(stdout).toMatch(/ {2}How often {5}1 time \(\d+m\) in 7 days, 1 time \(\d+m\) in 30 days\n/);
    expect(stdout).toMatch(/ {2}Costs {9}2 series, \d+(\.\d+)? samples, \d+(\.\d+)? ms an evaluation/);
    const near = await run('explain', 'Too many erors');
    expect(near).toMatchObject({ code: 1, stderr: expect.stringContaining('Did you mean "Too many errors"?') });
  });
});
