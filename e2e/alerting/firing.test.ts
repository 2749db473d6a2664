/** When an alert fires and when it ends: thresholds, windows, gaps, flapping, late samples, odd values. */
import { describe, expect, it } from 'vitest';
import { prometheusBinary, startPrometheus } from '../../tasks/prometheus.ts';
import { isMissing, useWorlds } from './servers.ts';
import { line, type World } from './world.ts';

const prometheus = await prometheusBinary();
const worlds = useWorlds();

interface Case {
  readonly rule: Record<string, unknown>;
  readonly values: readonly number[];
  /** What each channel hears. */
  readonly heard: readonly string[];
}

const rule = (condition: string, bad: number, total: number, more: Record<string, unknown> = {}) => ({
  condition: `expr ${condition}`,
  alert_condition: `count_true(result) >= ${bad}`,
  eval_window: total,
  ...more,
});

/** Plays all cases in one world, each with a rule and a metric of its own; every channel must hear exactly what the case says. */
async function play(world: World, cases: Readonly<Record<string, Case>>, minutes: number): Promise<void> {
  for (const [index, [name, { rule: document, values }]] of Object.entries(cases).entries()) {
    const metric = `${world.metric}_${index}`;
    await world.write(values, { metric });
    await world.rule({ rule_name: name, ...document }, { metric });
  }
  await world.pass(minutes);
  const told = (channel: 'hook' | 'pager') =>
    Object.fromEntries(Object.keys(cases).map((name) => [name, world.heard({ channel, rule: name })]));
  const expected = Object.fromEntries(Object.entries(cases).map(([name, { heard }]) => [name, heard]));
  expect(told('hook')).toEqual(expected);
  expect(told('pager')).toEqual(expected);
}

/** 5 is the threshold; `hit` is bad by the operator, `miss` is as near as it can be and good. */
const OPERATORS = [
  ['>', 5.1, 5],
  ['>=', 5, 4.9],
  ['<', 4.9, 5],
  ['<=', 5, 5.1],
  ['==', 5, 5.1],
  ['!=', 5.1, 5],
] as const;

function operatorCases(): Record<string, Case> {
  const cases: Record<string, Case> = {};
  for (const [operator, hit, miss] of OPERATORS) {
    const values = (text: string) => line(text).map((value) => (Number.isNaN(value) ? value : value > 5 ? hit : miss));
    cases[`${operator} one minute less`] = {
      rule: rule(`${operator} 5`, 3, 5),
      values: values('ggbgbggggbgbggggggggg'),
      heard: [],
    };
    // Bad at 2, 4, 6; met at 6 only, so it recovers at 7, 8, 9.
    cases[`${operator} three of five`] = {
      rule: rule(`${operator} 5`, 3, 5),
      values: values('ggbgbgbgggggggggggggg'),
      heard: ['6 trigger', '9 resolve'],
    };
  }
  return cases;
}

describe.skipIf(isMissing)('on VictoriaMetrics', () => {
  it('fires in the very minute in which bad minutes are enough, for all six operators', async () => {
    await play(await worlds.open({ channels: ['hook', 'pager'] }), operatorCases(), 21);
  });

  it('counts bad minutes over windows of every size', async () => {
    const world = await worlds.open({ channels: ['hook', 'pager'], recoverMinutes: 1 });
    await play(
      world,
      {
        'one of one': {
          rule: rule('> 5', 1, 1),
          values: line('gbgbbg*60'),
          heard: ['1 trigger', '2 resolve', '3 trigger', '5 resolve'],
        },
        'three of three': { rule: rule('> 5', 3, 3), values: line('bbgbbbg*60'), heard: ['5 trigger', '6 resolve'] },
        'three of three with a gap': {
          rule: rule('> 5', 3, 3),
          values: line('bb.bbbg*60'),
          heard: ['5 trigger', '6 resolve'],
        },
        // Bad at 0 and 59: both are in the window of 60 minutes that ends at 59, and at 60 the first is not.
        'two of sixty': { rule: rule('> 5', 2, 60), values: line('bg*58bg*70'), heard: ['59 trigger', '60 resolve'] },
        'two of sixty, one minute too far apart': { rule: rule('> 5', 2, 60), values: line('bg*59bg*70'), heard: [] },
        'sixty of sixty': {
          rule: rule('> 5', 60, 60),
          values: line('gb*60gb*10'),
          heard: ['60 trigger', '61 resolve'],
        },
        'sixty of sixty, one is good': { rule: rule('> 5', 60, 60), values: line('gb*30gb*29g'), heard: [] },
      },
      75,
    );
  });

  it('takes missing minutes for neither good nor bad', async () => {
    const world = await worlds.open({ channels: ['hook', 'pager'] });
    await play(
      world,
      {
        'they are not bad': { rule: rule('> 5', 3, 5), values: line('bb...ggggg'), heard: [] },
        'they do not push bad ones together': { rule: rule('> 5', 3, 5), values: line('bb...bggggg'), heard: [] },
        'bad ones around them count': {
          rule: rule('> 5', 3, 5),
          values: line('b..bbggggggg'),
          heard: ['4 trigger', '7 resolve'],
        },
        // Window 5 and recovery 3 hold nothing for the first time at 2 + 7 = 9.
        'absence ends nothing before the window is empty': {
          rule: rule('> 5', 3, 5),
          values: line('bbb'),
          heard: ['2 trigger', '9 resolve'],
        },
        'the end waits for a sample': {
          rule: rule('> 5', 3, 5),
          values: line('bbb.....gg'),
          heard: ['2 trigger', '8 resolve'],
        },
        // A sample after the gap that is bad speaks of no recovery: the same alert goes on.
        'absence ends nothing, nor does the bad sample after it': {
          rule: rule('> 5', 3, 5),
          values: line('bbb.....bbbgggggg'),
          heard: ['2 trigger', '15 resolve'],
        },
      },
      30,
    );
    const ends = world.received.filter(({ event }) => event === 'resolve');
    const reasons = (name: string) =>
      new Set(ends.filter(({ title }) => title.startsWith(name)).map(({ body }) => body.payload.custom_details.reason));
    expect(reasons('absence ends nothing before')).toEqual(new Set(['There is no data any more.']));
    expect(reasons('the end')).toEqual(new Set(['It recovered.']));
  });

  it('lets missing minutes recover where the setting says so', async () => {
    const world = await worlds.open({ channels: ['hook', 'pager'], settings: { missing_minutes: 'good' } });
    await play(
      world,
      { Gone: { rule: rule('> 5', 3, 5), values: line('bbb'), heard: ['2 trigger', '7 resolve'] } },
      20,
    );
  });

  it('does not flap', async () => {
    const world = await worlds.open({ channels: ['hook', 'pager'], recoverMinutes: 4 });
    await play(
      world,
      {
        'every other minute': {
          rule: rule('> 5', 3, 5),
          values: line(`${'bg'.repeat(15)}g*20`),
          heard: ['4 trigger', '32 resolve'],
        },
        'three in a row, three apart': {
          rule: rule('> 5', 3, 5),
          values: line('bbbgggbbbgggbbbg*20'),
          heard: ['2 trigger', '20 resolve'],
        },
        // Met until 4; not met at 5 to 8.
        'apart for longer than recovery': {
          rule: rule('> 5', 3, 5),
          values: line('bbbggggggbbbg*20'),
          heard: ['2 trigger', '8 resolve', '11 trigger', '17 resolve'],
        },
      },
      40,
    );
    const keys = world.received
      .filter(({ title, event, channel }) => title.startsWith('apart') && event === 'trigger' && channel === 'pager')
      .map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
  });

  it('sees samples that come late, and takes nothing back', async () => {
    const world = await worlds.open();
    await world.rule();
    await world.write(line('gb...'));
    await world.pass(5);
    expect(world.received).toEqual([]);
    await world.write(line('bb'), { from: 2 });
    await world.pass(1);
    expect(world.heard()).toEqual(['5 ops trigger', '5 pager trigger']);
    await world.pass(30);
    expect(world.heard()).toHaveLength(4);
    expect(world.heard().slice(2)).toEqual(['10 ops resolve', '10 pager resolve']);
    // What was absent was bad after all, and it is over already: the windows that are read again do not reach it.
    await world.write(line('b*4'), { from: 20 });
    await world.pass(5);
    expect(world.heard()).toHaveLength(4);
  });

  it('waits for as long as samples need to arrive', async () => {
    const world = await worlds.open({ channels: ['pager'], sourceProperties: { evaluation_delay_seconds: 120 } });
    await world.rule();
    // Each sample is written a minute late, and is there when its minute is judged.
    for (let minute = 0; minute < 20; minute++) {
      if (minute > 0) await world.write([minute <= 5 ? 9 : 1], { from: minute - 1 });
      await world.pass(1);
    }
    expect(world.heard()).toEqual(['4 pager trigger', '11 pager resolve']);
    const details = world.received.map(({ body }) => body.payload.custom_details);
    expect(details[1]).toMatchObject({ started_at: '2026-06-01T12:02:00.000Z', ended_at: '2026-06-01T12:09:00.000Z' });
  });

  it('judges infinities, and takes NaN for a missing minute', async () => {
    const world = await worlds.open({ channels: ['hook', 'pager'] });
    const infinite = (text: string) => line(text).map((value) => (value === 9 ? Number.POSITIVE_INFINITY : value));
    const metric = `${world.metric}_0`;
    await world.write(infinite('bbbggggggg'), { metric });
    await world.rule({ rule_name: 'above' }, { metric });
    await world.rule(
      { rule_name: 'below', condition: 'expr < -5' },
      { query: `-last_over_time(${metric}[1m])`, metric: 'x' },
    );
    // 0 / 0 where the value is 1.
    const nan = `(last_over_time(${metric}[1m]) - 1) / (last_over_time(${metric}[1m]) - 1)`;
    await world.rule({ rule_name: 'not a number', condition: 'expr != 5' }, { query: nan, metric: 'y' });
    await world.pass(20);
    expect(world.heard({ channel: 'hook', rule: 'above' })).toEqual(['2 trigger', '7 resolve']);
    expect(world.heard({ channel: 'hook', rule: 'below' })).toEqual(['2 trigger', '7 resolve']);
    expect(world.heard({ channel: 'hook', rule: 'not a number' })).toEqual([]);
    const values = world.received.map(
      ({ title, body }) => `${title.split(' ')[0]} ${body.payload.custom_details.value}`,
    );
    expect(new Set(values)).toEqual(new Set(['above +Inf', 'below -Inf']));
  });

  it('still knows an infinity after a restart', async () => {
    const world = await worlds.open({ channels: ['hook', 'pager'] });
    await world.write(new Array(20).fill(Number.NEGATIVE_INFINITY));
    const { entity } = await world.rule({ condition: 'expr < 5' }, { attach: { hook: 'breach' } });
    await world.until(5);
    await world.restart();
    await world.attach('pager', entity);
    await world.until(8);
    expect(world.heard()).toEqual(['2 hook trigger', '5 pager trigger']);
    expect(world.received.map(({ body }) => body.payload.custom_details.value)).toEqual(['-Inf', '-Inf']);
  });

  it('keeps each series apart', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('bbbggggggggggg'), { labels: { host: 'a' } });
    await world.write(line('ggbbbbbbgggggg'), { labels: { host: 'b' } });
    await world.write(line('gggggggggggggg'), { labels: { host: 'c' } });
    await world.rule();
    await world.pass(14);
    expect(world.heard({ channel: 'pager' })).toEqual([
      '2 trigger host=a',
      '4 trigger host=b',
      '7 resolve host=a',
      '12 resolve host=b',
    ]);
    const keys = new Map(world.received.map(({ key, title }) => [key, title]));
    expect(keys.size).toBe(2);
  });
});

describe.skipIf(prometheus.binary === undefined)('on Prometheus', () => {
  it('fires in the very minute in which bad minutes are enough, for all six operators', async () => {
    const source = await startPrometheus({ binary: prometheus.binary!.path });
    try {
      await play(
        await worlds.open({ source, flavour: 'prometheus', metric: 'm', channels: ['hook', 'pager'] }),
        operatorCases(),
        21,
      );
    } finally {
      await source.stop();
    }
  });
});
