/** Rules, channels and alert managers that change while an alert fires: who hears what, and when. */
import { describe, expect, it } from 'vitest';
import { isMissing, useWorlds } from './servers.ts';
import { line, START, type World } from './world.ts';

const worlds = useWorlds();

/** Fires at 2; met until 21, so it recovers at 22, 23, 24. */
const LONG = line('b*20g*60');

async function firing(options: Parameters<typeof worlds.open>[0] = { channels: ['pager'] }): Promise<World> {
  const world = await worlds.open(options);
  await world.write(LONG);
  return world;
}

const reasons = (world: World) =>
  world.received.filter(({ event }) => event === 'resolve').map(({ body }) => body.payload.custom_details.reason);

const unixSeconds = (minute: number) => (START + minute) * 60;

describe.skipIf(isMissing)('a rule that is edited', () => {
  it('with a higher threshold ends as soon as its whole window, judged anew, says so', async () => {
    const world = await firing();
    const ids = await world.rule();
    await world.until(10);
    await world.edit(ids, { condition: 'expr > 20' });
    await world.until(30);
    expect(world.heard()).toEqual(['2 pager trigger', '10 pager resolve']);
  });

  it('with a lower threshold fires as soon as its whole window, judged anew, says so', async () => {
    const world = await firing();
    const ids = await world.rule({ condition: 'expr > 20' });
    await world.until(10);
    await world.edit(ids, { condition: 'expr > 5' });
    await world.until(30);
    expect(world.heard()).toEqual(['10 pager trigger', '24 pager resolve']);
  });

  it('in its texts alone goes on as it was', async () => {
    const world = await firing();
    const ids = await world.rule();
    await world.until(10);
    await world.edit(ids, { rule_name: 'Other name', properties: { description: 'now with a text' } });
    await world.until(30);
    expect(world.heard()).toEqual(['2 pager trigger', '24 pager resolve']);
    expect(new Set(world.received.map(({ key }) => key)).size).toBe(1);
  });

  it('with another query ends the alerts of series that it no longer knows', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('b*60'), { labels: { host: 'a' } });
    await world.write(line('b*60'), { labels: { host: 'b' } });
    const ids = await world.rule();
    await world.until(10);
    await world.editQuery(ids, `last_over_time(${world.metric}{host="b"}[1m])`);
    await world.until(30);
    expect(world.heard()).toEqual(['2 pager trigger host=a', '2 pager trigger host=b', '10 pager resolve host=a']);
    expect(reasons(world)).toEqual(['The rule was changed.']);
  });

  it('with a longer window fires again for minutes that had been told of, as another episode', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('bbbg*80'));
    const ids = await world.rule();
    await world.until(25);
    expect(world.heard()).toEqual(['2 pager trigger', '7 pager resolve']);
    await world.edit(ids, { eval_window: 30 });
    await world.until(40);
    // Minutes 0 to 2 leave the window from 30 on; not met at 30, 31, 32.
    expect(world.heard().slice(2)).toEqual(['25 pager trigger', '32 pager resolve']);
    expect(world.received[2]!.key).not.toBe(world.received[0]!.key);
    expect(world.received[3]!.key).toBe(world.received[2]!.key);
  });

  it('with a shorter window goes on', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line(`${'bgg'.repeat(10)}g*60`));
    const ids = await world.rule({ alert_condition: 'count_true(result) >= 3', eval_window: 9 });
    await world.until(12);
    // One of three: met in every minute until 29.
    await world.edit(ids, { alert_condition: 'count_true(result) >= 1', eval_window: 3 });
    await world.until(50);
    expect(world.heard()).toEqual(['6 pager trigger', '32 pager resolve']);
  });
});

describe.skipIf(isMissing)('a mute', () => {
  it('holds the trigger back until it ends', async () => {
    const world = await firing();
    const ids = await world.rule({ mute_until: -1 });
    await world.until(10);
    expect(world.heard()).toEqual([]);
    await world.edit(ids, { mute_until: 0 });
    await world.until(30);
    expect(world.heard()).toEqual(['10 pager trigger', '24 pager resolve']);
    expect(world.received[0]!.body.payload.custom_details.started_at).toBe('2026-06-01T12:02:00.000Z');
  });

  it('until a time ends by itself', async () => {
    const world = await firing();
    await world.rule({ mute_until: unixSeconds(10) });
    await world.until(30);
    expect(world.heard()).toEqual(['10 pager trigger', '24 pager resolve']);
  });

  it('over a whole episode leaves nothing to say', async () => {
    const world = await firing();
    const ids = await world.rule({ mute_until: -1 });
    await world.until(30);
    await world.edit(ids, { mute_until: 0 });
    await world.until(40);
    expect(world.heard()).toEqual([]);
  });

  it('holds the end back until it ends, across a restart', async () => {
    const world = await firing();
    const ids = await world.rule();
    await world.until(10);
    await world.edit(ids, { mute_until: -1 });
    await world.until(35);
    await world.restart();
    await world.until(40);
    expect(world.heard()).toEqual(['2 pager trigger']);
    await world.edit(ids, { mute_until: 0 });
    await world.until(45);
    expect(world.heard()).toEqual(['2 pager trigger', '40 pager resolve']);
    expect(world.received[1]!.body.payload.custom_details.ended_at).toBe('2026-06-01T12:24:00.000Z');
  });

  it.each([
    ['deleted', 'DELETE'],
    ['disabled', 'PUT'],
  ])('ends with its rule: what it held back is told when the rule is %s', async (_how, method) => {
    const world = await firing();
    const ids = await world.rule();
    await world.until(10);
    await world.edit(ids, { mute_until: -1 });
    await world.until(35);
    expect(world.heard()).toEqual(['2 pager trigger']);
    if (method === 'PUT') await world.edit(ids, { is_disabled: true });
    else await world.call('DELETE', `/entities/${ids.entity}/alert-rules/${ids.rule}`);
    await world.until(40);
    expect(world.heard()).toEqual(['2 pager trigger', '35 pager resolve']);
  });

  it('of the whole alert manager holds all of its rules back', async () => {
    const world = await firing();
    const ids = await world.rule();
    await world.call('POST', `/entities/${ids.entity}/alert-rules/snooze`, { until: unixSeconds(10) });
    await world.until(30);
    expect(world.heard()).toEqual(['10 pager trigger', '24 pager resolve']);
  });

  it.each([
    ['UTC', '12:05', '12:15'],
    ['Europe/Berlin', '14:05', '14:15'],
    ['America/New_York', '08:05', '08:15'],
  ])('that recurs is by the clock of its time zone: %s', async (timezone, start_time, end_time) => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('g*5b*40'));
    const windows = (weekdays: string[]) => [{ weekdays, start_time, end_time }];
    const schedule = (weekdays: string[]) => ({ enabled: true, timezone, windows: windows(weekdays) });
    await world.rule({ rule_name: 'monday', recurring_mute_schedule: schedule(['mon', 'fri']) });
    await world.rule({ rule_name: 'tuesday', recurring_mute_schedule: schedule(['tue', 'sun']) });
    const off = { ...schedule(['mon']), enabled: false };
    await world.rule({ rule_name: 'off', recurring_mute_schedule: off });
    await world.until(30);
    expect(world.heard({ rule: 'monday' })).toEqual(['15 pager trigger']);
    expect(world.heard({ rule: 'tuesday' })).toEqual(['7 pager trigger']);
    expect(world.heard({ rule: 'off' })).toEqual(['7 pager trigger']);
  });
});

describe.skipIf(isMissing)('a rule that goes away', () => {
  it('by being disabled tells the end, and fires anew when it is enabled', async () => {
    const world = await firing({});
    const ids = await world.rule();
    await world.until(10);
    await world.edit(ids, { is_disabled: true });
    await world.until(13);
    await world.edit(ids, { is_disabled: false });
    await world.until(30);
    expect(world.heard({ channel: 'pager' })).toEqual(['2 trigger', '10 resolve', '13 trigger', '24 resolve']);
    expect(world.heard({ channel: 'ops' })).toEqual(world.heard({ channel: 'pager' }));
    const { body } = world.received.find(({ channel, event }) => channel === 'pager' && event === 'resolve')!;
    expect(body.payload.custom_details.reason).toBe('The rule was disabled.');
  });

  it('by being deleted tells the end', async () => {
    const world = await firing({});
    const ids = await world.rule();
    await world.until(10);
    await world.call('DELETE', `/entities/${ids.entity}/alert-rules/${ids.rule}`);
    await world.until(30);
    expect(world.heard()).toEqual(['2 ops trigger', '2 pager trigger', '10 ops resolve', '10 pager resolve']);
  });

  it('with its alert manager tells the end', async () => {
    const world = await firing({});
    const ids = await world.rule();
    await world.until(10);
    await world.call('DELETE', `/entities/${ids.entity}`);
    await world.until(30);
    expect(world.heard()).toEqual(['2 ops trigger', '2 pager trigger', '10 ops resolve', '10 pager resolve']);
  });

  it('while no process is there tells the end when there is one again', async () => {
    const world = await firing();
    const ids = await world.rule();
    await world.until(10);
    await world.call('DELETE', `/entities/${ids.entity}`);
    world.skip(20);
    await world.restart();
    await world.until(35);
    expect(world.heard()).toEqual(['2 pager trigger', '30 pager resolve']);
    expect(reasons(world)).toEqual(['The rule was deleted.']);
  });

  it('with many series tells all ends', async () => {
    const world = await worlds.open({ channels: ['hook'] });
    const hosts = Array.from({ length: 12 }, (_, index) => `h${String(index).padStart(2, '0')}`);
    for (const host of hosts) await world.write(line('b*20'), { labels: { host } });
    const ids = await world.rule();
    await world.until(5);
    await world.call('DELETE', `/entities/${ids.entity}`);
    await world.until(8);
    const each = (minute: number, event: string) => hosts.map((host) => `${minute} ${event} host=${host}`);
    expect(world.heard({ channel: 'hook' }).sort()).toEqual([...each(2, 'trigger'), ...each(5, 'resolve')].sort());
  });
});

describe.skipIf(isMissing)('a channel', () => {
  it('that is attached later hears of what fires', async () => {
    const world = await firing({ channels: ['ops', 'pager'] });
    const { entity } = await world.rule({}, { attach: { ops: 'breach' } });
    await world.until(10);
    await world.attach('pager', entity);
    await world.until(30);
    expect(world.heard()).toEqual(['2 ops trigger', '10 pager trigger', '24 ops resolve', '24 pager resolve']);
  });

  it('that is detached hears of the end of what it was told, and of nothing new', async () => {
    const world = await firing({ channels: ['ops', 'pager'] });
    await world.write(line('g*5b*60'), { metric: `${world.metric}_b` });
    const { entity } = await world.rule({ rule_name: 'one' });
    await world.rule({ rule_name: 'two' }, { entity, metric: `${world.metric}_b` });
    await world.until(5);
    await world.detach('pager', entity);
    await world.until(30);
    expect(world.heard({ channel: 'pager' })).toEqual(['2 trigger', '24 resolve']);
    expect(world.heard({ channel: 'ops' })).toEqual(['2 trigger', '7 trigger', '24 resolve']);
  });

  it('that is detached and attached again is not told twice', async () => {
    const world = await firing();
    const { entity } = await world.rule();
    await world.until(5);
    await world.detach('pager', entity);
    await world.until(7);
    await world.attach('pager', entity);
    await world.until(30);
    expect(world.heard()).toEqual(['2 pager trigger', '24 pager resolve']);
  });

  it('hears of its severity alone', async () => {
    const world = await firing({ channels: ['ops', 'pager'] });
    const attach = { ops: 'threat', pager: 'breach' } as const;
    await world.rule({ rule_name: 'one', severity: 'breach' }, { attach });
    await world.rule({ rule_name: 'two', severity: 'threat' }, { attach, metric: world.metric });
    await world.until(30);
    expect(world.heard({ rule: 'one' })).toEqual(['2 pager trigger', '24 pager resolve']);
    expect(world.heard({ rule: 'two' })).toEqual(['2 ops trigger', '24 ops resolve']);
    expect(world.received.find(({ channel }) => channel === 'pager')!.body.payload.severity).toBe('critical');
  });

  it('hears of a rule that comes to its severity, and of the end of one that left it', async () => {
    const world = await firing({ channels: ['ops', 'pager'] });
    const ids = await world.rule({}, { attach: { ops: 'breach', pager: 'threat' } });
    await world.until(10);
    await world.edit(ids, { severity: 'threat' });
    await world.until(30);
    expect(world.heard()).toEqual(['2 ops trigger', '10 pager trigger', '24 ops resolve', '24 pager resolve']);
    expect(world.received[1]!.body.payload.severity).toBe('warning');
  });

  it('that is deleted holds up nobody', async () => {
    const world = await firing({ channels: ['ops', 'pager'] });
    const { entity } = await world.rule();
    await world.until(5);
    await world.detach('pager', entity);
    const path = `/workspace/default/notification_settings/${world.channelId('pager')}`;
    const { origin } = world.app.address!;
    const headers = { authorization: `Bearer ${await world.token('DELETE')}` };
    const answer = await fetch(`${origin}/api/organizations/default${path}`, { method: 'DELETE', headers });
    expect(answer.status).toBe(200);
    await world.until(40);
    expect(world.heard()).toEqual(['2 ops trigger', '2 pager trigger', '24 ops resolve']);
  });

  it('that wants no ends hears none', async () => {
    const world = await firing();
    await world.rule();
    await world.until(5);
    const { destination } = (await world.call('GET', '/notification_settings'))[0];
    const id = world.channelId('pager');
    const document = { name: 'pager', type: 'pagerduty', destination, send_resolved: false };
    await world.call('PUT', `/notification_settings/${id}`, document);
    await world.until(30);
    expect(world.heard()).toEqual(['2 pager trigger']);
  });
});
