/** Data sources that fail: what is said of it, and that no alert is lost, invented or ended by it. */
import { afterAll, describe, expect, it } from 'vitest';
import { type FaultySource, startFaultySource } from './faulty-source.ts';
import { isMissing, useWorlds } from './servers.ts';
import { line, type RuleIds, type World, type WorldOptions } from './world.ts';

const worlds = useWorlds();
const sources: FaultySource[] = [];

afterAll(async () => {
  for (const source of sources) await source.stop();
});

interface Behind {
  readonly world: World;
  readonly source: FaultySource;
}

async function behind(options: Partial<WorldOptions> = {}): Promise<Behind> {
  const source = await startFaultySource(worlds.server.url);
  sources.push(source);
  return { source, world: await worlds.open({ sourceUrl: source.url, ...options }) };
}

const OUTAGE = 'Data source metrics does not answer';

function errorSince(world: World, { entity, rule }: RuleIds): Promise<number | null> {
  return world
    .call('GET', `/entities/${entity}/alert-rules/${rule}`)
    .then(({ error_since }: { error_since: number | null }) => error_since);
}

const at = (minute: number) => Date.UTC(2026, 5, 1, 12, minute) / 1000;

describe.skipIf(isMissing)('a data source that is down', () => {
  it('is told of once after three minutes, and what it missed when it is back', async () => {
    const { world, source } = await behind();
    // Fires at 2. While the source is away it recovers (12) and fires again (22), and so does another one (15).
    await world.write(line('b*7g*13b*40'));
    await world.write(line('g*13b*40'), { metric: `${world.metric}_b` });
    const first = await world.rule({ rule_name: 'one' });
    await world.rule({ rule_name: 'two' }, { metric: `${world.metric}_b` });
    await world.until(5);
    await source.fail('refused');
    await world.until(25);
    const before = ['2 trigger', `7 trigger ${OUTAGE}`];
    expect(world.heard({ channel: 'ops' })).toEqual(before);
    expect(world.heard({ channel: 'pager' })).toEqual(before);
    expect(await errorSince(world, first)).toBe(at(5));

    await source.fail('none');
    await world.until(30);
    const told = world.heard({ channel: 'pager', rule: 'one' });
    expect(told).toEqual(['2 trigger', '25 resolve', '25 trigger']);
    expect(world.heard({ channel: 'ops', rule: 'one' })).toEqual(told);
    expect(world.heard({ channel: 'pager', rule: 'two' })).toEqual(['25 trigger']);
    expect(world.heard({ channel: 'pager' }).filter((each) => each.includes(OUTAGE))).toEqual([
      `7 trigger ${OUTAGE}`,
      `25 resolve ${OUTAGE}`,
    ]);
    const [trigger, resolve] = world.received.filter(({ title, channel }) => title === OUTAGE && channel === 'pager');
    expect(resolve!.key).toBe(trigger!.key);
    expect(trigger!.body.payload).toMatchObject({ class: 'Data Source Outage', severity: 'critical' });
    expect(trigger!.body.payload.custom_details.description).toContain('refuses connections');
    expect(await errorSince(world, first)).toBeNull();
    const second = world.received.findLast(({ title }) => title.startsWith('one'));
    expect(second!.body.payload.custom_details.started_at).toBe('2026-06-01T12:22:00.000Z');
  });

  it.each([
    ['cut', 'cut the connection'],
    ['error', 'answers with the error 500'],
    ['busy', 'answers with the error 503'],
    ['unauthorized', 'refuses the credentials (401)'],
    ['half', 'not whole JSON'],
  ] as const)('in the manner "%s" is an outage like any other', async (fault, reason) => {
    const { world, source } = await behind({ channels: ['pager'] });
    await world.write(line('b*40'));
    await world.rule();
    await world.until(5);
    await source.fail(fault);
    await world.until(12);
    await source.fail('none');
    await world.until(15);
    expect(world.heard({ channel: 'pager' })).toEqual(['2 trigger', `7 trigger ${OUTAGE}`, `12 resolve ${OUTAGE}`]);
    expect(world.received[1]!.body.payload.custom_details.description).toContain(reason);
  });

  it('for two minutes is nothing to speak of', async () => {
    const { world, source } = await behind();
    await world.write(line('ggbbb*20'));
    await world.rule();
    for (const minute of [3, 7, 11]) {
      await world.until(minute);
      await source.fail('error');
      await world.pass(2);
      await source.fail('none');
    }
    await world.until(15);
    expect(world.heard()).toEqual(['5 ops trigger', '5 pager trigger']);
  });

  it('is too slow where it does not answer in time', async () => {
    const { world, source } = await behind({ channels: ['pager'], sourceProperties: { timeout_seconds: 1 } });
    await world.write(line('b*40'));
    await world.rule();
    await world.until(3);
    await source.fail('silent');
    await world.pass(3);
    await source.fail('none');
    await world.pass(2);
    expect(world.heard({ channel: 'pager' })).toEqual(['2 trigger', `5 trigger ${OUTAGE}`, `6 resolve ${OUTAGE}`]);
    expect(world.received[1]!.body.payload.custom_details.description).toContain('within 1 s');
  });

  it('is said again every 61 minutes, also by a process that was started since', async () => {
    const { world, source } = await behind({ channels: ['pager'] });
    await world.write(line('g*200'));
    await world.rule();
    await source.fail('error');
    await world.until(20);
    await world.restart();
    await world.until(130);
    await source.fail('none');
    await world.until(132);
    expect(world.heard({ channel: 'pager' })).toEqual([
      `2 trigger ${OUTAGE}`,
      `63 repeat ${OUTAGE}`,
      `124 repeat ${OUTAGE}`,
      `130 resolve ${OUTAGE}`,
    ]);
  });

  it('is over when nothing asks it any more', async () => {
    const { world, source } = await behind({ channels: ['pager'] });
    const ids = await world.rule();
    await source.fail('error');
    await world.until(5);
    await world.restart();
    await world.until(7);
    await world.call('DELETE', `/entities/${ids.entity}`);
    await world.until(10);
    expect(world.heard({ channel: 'pager' })).toEqual([`2 trigger ${OUTAGE}`, `7 resolve ${OUTAGE}`]);
  });

  it('is over when nothing asks it any more, also when that came about while no process was there', async () => {
    const { world, source } = await behind({ channels: ['pager'] });
    const ids = await world.rule();
    await source.fail('error');
    await world.until(5);
    await world.call('DELETE', `/entities/${ids.entity}`);
    await world.restart();
    await world.until(10);
    expect(world.heard({ channel: 'pager' })).toEqual([`2 trigger ${OUTAGE}`, `5 resolve ${OUTAGE}`]);
  });

  it('leaves the rules of another source alone', async () => {
    const { world, source } = await behind({ channels: ['pager'] });
    await world.call('POST', '/datasources', {
      name: 'other',
      url: worlds.server.url,
      properties: { flavour: 'victoriametrics', evaluation_delay_seconds: 0 },
    });
    await world.write(line('g*5b*5g*40'));
    await world.rule({ rule_name: 'here' });
    await world.rule({ rule_name: 'there' }, { source: 'other' });
    await source.fail('refused');
    await world.until(20);
    expect(world.heard({ channel: 'pager', rule: 'there' })).toEqual(['7 trigger', '14 resolve']);
    expect(world.heard({ channel: 'pager', rule: 'here' })).toEqual([]);
  });
});

describe.skipIf(isMissing)('an answer that leaves out data', () => {
  it('ends nothing and fires nothing, and is no outage', async () => {
    const { world, source } = await behind({ channels: ['pager'] });
    await world.write(line('b*5g*40'));
    const ids = await world.rule();
    await world.until(4);
    await source.fail('partial');
    await world.until(20);
    expect(world.heard()).toEqual(['2 pager trigger']);
    expect(await errorSince(world, ids)).toBe(at(4));
    await source.fail('none');
    await world.until(22);
    expect(world.heard()).toEqual(['2 pager trigger', '20 pager resolve']);
    expect(await errorSince(world, ids)).toBeNull();
  });
});

describe.skipIf(isMissing)('a rule that cannot be evaluated', () => {
  it('for its query says so itself, and the others go on', async () => {
    const { world } = await behind({ channels: ['pager'] });
    await world.write(line('bbbg*40'));
    const bad = await world.rule({ rule_name: 'bad' });
    await world.rule({ rule_name: 'good' }, { query: `max(last_over_time(${world.metric}[1m]))` });
    await world.until(4);
    await world.editQuery(bad, `last_over_time(${world.metric}[1m]) +`);
    await world.until(20);
    expect(world.heard({ channel: 'pager', rule: 'bad' })).toEqual(['2 trigger']);
    expect(world.heard({ channel: 'pager', rule: 'good' })).toEqual(['2 trigger', '7 resolve']);
    expect(world.heard()).toHaveLength(3);
    expect(await errorSince(world, bad)).toBe(at(4));
    await world.editQuery(bad, `last_over_time(${world.metric}[1m])`);
    await world.until(25);
    expect(world.heard({ channel: 'pager', rule: 'bad' })).toEqual(['2 trigger', '20 resolve']);
    expect(await errorSince(world, bad)).toBeNull();
  });

  it('for a query that its source refuses is told by the rule, and is no outage', async () => {
    const { world } = await behind({ channels: ['pager'] });
    // The source refuses to match many series with many.
    await world.write(line('b*40'), { labels: { host: 'a' }, from: -10 });
    await world.write(line('b*40'), { labels: { host: 'b' }, from: -10 });
    const ids = await world.rule({}, { query: `${world.metric} + on() ${world.metric}` });
    await world.until(8);
    expect(world.heard()).toEqual([]);
    expect(await errorSince(world, ids)).toBe(at(0));
  });

  it('for its data source, which was deleted, keeps what fires until there is one again', async () => {
    const { world } = await behind({ channels: ['pager'] });
    const other = { url: worlds.server.url, properties: { flavour: 'victoriametrics', evaluation_delay_seconds: 0 } };
    const { id } = await world.call('POST', '/datasources', { name: 'other', ...other });
    await world.write(line('b*5g*60'));
    const ids = await world.rule({}, { source: 'other' });
    await world.until(4);
    const update = { name: 'Shop 1', type: 'service', data_source: 'gone' };
    await world.call('PUT', `/entities/${ids.entity}`, update);
    await world.call('DELETE', `/datasources/${id}`);
    await world.until(15);
    expect(world.heard()).toEqual(['2 pager trigger']);
    expect(await errorSince(world, ids)).toBe(at(4));
    await world.call('POST', '/datasources', { name: 'gone', ...other });
    await world.until(20);
    expect(world.heard()).toEqual(['2 pager trigger', '15 pager resolve']);
    expect(await errorSince(world, ids)).toBeNull();
  });
});

describe.skipIf(isMissing)('what is asked', () => {
  it('is one query a minute for all rules that share it, over the longest window', async () => {
    const { world, source } = await behind({ channels: ['pager'] });
    await world.write(line('g*12b*28'));
    const { entity } = await world.rule({ rule_name: 'short' });
    for (const [name, total] of [
      ['long', 30],
      ['middle', 10],
    ] as const) {
      const rule = { rule_name: name, primary_indicator: `Errors of ${world.metric}`, condition: 'expr > 5' };
      await world.call('POST', `/entities/${entity}/alert-rules`, {
        ...rule,
        alert_condition: 'count_true(result) >= 3',
        eval_window: total,
      });
    }
    await world.pass(10);
    expect(source.queries).toHaveLength(10);
    const minutesAsked = () => {
      const { form } = source.queries.at(-1)!;
      expect(form.get('step')).toBe('60');
      return { last: Number(form.get('end')), minutes: (Number(form.get('end')) - Number(form.get('start'))) / 60 + 1 };
    };
    expect(minutesAsked()).toEqual({ last: at(9), minutes: 30 });
    await world.pass(10);
    // While one of them fires there are 3 minutes of recovery too, of which the last is in the window.
    expect(minutesAsked()).toEqual({ last: at(19), minutes: 32 });
  });
});
