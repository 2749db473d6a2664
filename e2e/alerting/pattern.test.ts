/** Pattern rules from end to end: real samples of a day and more, alerts in the right minutes, and what they say of themselves. */
import { describe, expect, it } from 'vitest';
import { isMissing, useWorlds } from './servers.ts';
import type { World } from './world.ts';

const worlds = useWorlds();

const DAY = 1440;
/** Minutes of samples before the test begins: history for a day and more, and seasons of four days. */
const HISTORY = 5 * DAY;

/** Evenly spread in -1 to 1, the same in every run. */
function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

/** Around 100 with noise of a few; `change` adds to the minutes after `START`. */
function samples(seed: number, minutes: number, change: (minute: number) => number): number[] {
  const next = noise(seed);
  return Array.from({ length: HISTORY + minutes }, (_, index) => {
    const minute = index - HISTORY;
    return 100 + 2 * (next() + next() + next()) + (minute < 0 ? 0 : change(minute));
  });
}

async function withSamples(metric: string, changes: (minute: number) => number, minutes = 120): Promise<World> {
  const world = await worlds.open({ channels: ['pager'] });
  await world.write(samples(7, minutes, changes), { metric, from: -HISTORY });
  return world;
}

const pattern = (macro: string, metric: string, bad: number, total: number) => ({
  expression: `${macro}(5, Errors of ${metric})`,
  condition: 'expr > 0',
  alert_condition: `count_true(result) >= ${bad}`,
  eval_window: total,
});

const patternOf = (world: World, index: number) => world.received[index]!.body.payload.custom_details.pattern as string;

describe.skipIf(isMissing)('a rule of a pattern', () => {
  it('high_spike hears of a spike in its first minute, and explains it', async () => {
    const metric = 'spike';
    const world = await withSamples(metric, (minute) => (minute >= 40 && minute < 43 ? 120 : 0));
    await world.rule({ rule_name: 'up', ...pattern('high_spike', metric, 1, 1) }, { metric });
    await world.rule({ rule_name: 'down', ...pattern('low_spike', metric, 1, 1) }, { metric });
    await world.rule({ rule_name: 'step', ...pattern('increasing_changepoint', metric, 1, 1) }, { metric });
    await world.until(100);
    expect(world.heard({ channel: 'pager' })).toEqual(['40 trigger', '45 resolve']);
    expect(world.heard({ channel: 'pager', rule: 'up' })).toHaveLength(2);
    expect(world.received[0]!.body.payload).toMatchObject({ class: 'High Spike', severity: 'critical' });
    expect(patternOf(world, 0)).toMatch(
      /^Errors of spike rose to 2[12]\d.* noise widths above the 1 h median (99|100|101)/,
    );
  });

  it('increasing_changepoint hears of a step within ten minutes, across a restart, and is calm once it is usual', async () => {
    const metric = 'step';
    const world = await withSamples(metric, (minute) => (minute >= 30 ? 40 : 0), 140);
    await world.rule({ rule_name: 'up', ...pattern('increasing_changepoint', metric, 3, 5) }, { metric });
    await world.rule({ rule_name: 'down', ...pattern('decreasing_changepoint', metric, 3, 5) }, { metric });
    await world.until(33);
    await world.restart();
    await world.until(38);
    await world.restart();
    await world.until(130);
    const said = world.heard({ channel: 'pager' });
    expect(said).toHaveLength(2);
    const [fired, resolved] = said.map((each) => Number(each.split(' ')[0]));
    // Bad from seven to ten minutes after the step; two more for three bad minutes.
    expect(fired).toBeGreaterThanOrEqual(38);
    expect(fired).toBeLessThanOrEqual(42);
    expect(resolved).toBeGreaterThan(65);
    expect(resolved).toBeLessThan(90);
    expect(world.heard({ channel: 'pager', rule: 'down' })).toEqual([]);
    expect(patternOf(world, 0)).toMatch(/Errors of step .*1[34]\d.*noise widths/);
  });

  it('compares with what its threshold says', async () => {
    const metric = 'threshold';
    const world = await withSamples(metric, (minute) => (minute === 20 ? 60 : minute === 50 ? 200 : 0));
    const rule = { rule_name: 'far', ...pattern('high_spike', metric, 1, 1), condition: 'expr > 100' };
    await world.rule(rule, { metric });
    await world.until(70);
    expect(world.heard({ channel: 'pager', rule: 'far' })).toEqual(['50 trigger', '53 resolve']);
  });

  it('says the same when minutes were missed', async () => {
    const metric = 'late';
    const world = await withSamples(metric, (minute) => (minute >= 40 && minute < 43 ? 120 : 0));
    await world.rule({ ...pattern('high_spike', metric, 1, 1) }, { metric });
    await world.until(35);
    world.skip(25);
    await world.pass(5);
    expect(world.heard({ channel: 'pager' })).toEqual(['60 trigger', '60 resolve']);
    const details = world.received.map(({ body }) => body.payload.custom_details);
    expect(details.map(({ started_at, ended_at }) => ended_at ?? started_at)).toEqual([
      '2026-06-01T12:40:00.000Z',
      '2026-06-01T12:45:00.000Z',
    ]);
    expect(patternOf(world, 0)).toContain('noise widths above');
  });
});
