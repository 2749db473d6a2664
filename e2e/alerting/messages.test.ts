/** What is said, and how often: repeats, groups, series that come and go, too many series, templates, payloads. */
import { describe, expect, it } from 'vitest';
import { isMissing, useWorlds } from './servers.ts';
import { line, type World } from './world.ts';

const worlds = useWorlds();

const details = (world: World, index: number) => world.received[index]!.body.payload.custom_details;

describe.skipIf(isMissing)('an alert that goes on', () => {
  it('is repeated every 61 minutes, with the value of the minute', async () => {
    const world = await worlds.open();
    await world.write(line('b*60').concat(new Array(90).fill(7), new Array(10).fill(1)));
    await world.rule();
    await world.until(160);
    const said = ['2 trigger', '63 repeat', '124 repeat', '154 resolve'];
    expect(world.heard({ channel: 'ops' })).toEqual(said);
    expect(world.heard({ channel: 'pager' })).toEqual(said);
    const pager = world.received.filter(({ channel }) => channel === 'pager');
    expect(pager.map(({ body }) => body.payload.custom_details.value)).toEqual(['9', '7', '7', '9']);
    expect(new Set(pager.map(({ key }) => key)).size).toBe(1);
  });

  it('is repeated as the metadata of its alert manager say', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('b*200'));
    const often = { renotify_enabled: true, renotify_interval_seconds: 600, renotify_occurrences: 3 };
    const metadata = { often, never: { renotify_enabled: false }, always: { renotify_occurrences: -1 } };
    for (const [rule_name, document] of Object.entries(metadata)) {
      const { entity } = await world.rule({ rule_name });
      await world.call('PUT', `/entities/${entity}/metadata`, document);
    }
    await world.until(130);
    expect(world.heard({ rule: 'often', channel: 'pager' })).toEqual([
      '2 trigger',
      '13 repeat',
      '24 repeat',
      '35 repeat',
    ]);
    expect(world.heard({ rule: 'never', channel: 'pager' })).toEqual(['2 trigger']);
    expect(world.heard({ rule: 'always', channel: 'pager' })).toEqual(['2 trigger', '63 repeat', '124 repeat']);
  });

  it('is not repeated while it is muted', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('b*200'));
    const ids = await world.rule();
    await world.until(50);
    await world.edit(ids, { mute_until: -1 });
    await world.until(100);
    await world.edit(ids, { mute_until: 0 });
    await world.until(170);
    expect(world.heard()).toEqual(['2 pager trigger', '100 pager repeat', '161 pager repeat']);
  });
});

describe.skipIf(isMissing)('a rule that groups', () => {
  it('speaks once for all of its series, from the first that fires to the last that ends', async () => {
    const world = await worlds.open({ channels: ['ops', 'pager', 'genie'] });
    // a leaves at 9 as c joins, b joins at 4 and leaves at 12, a joins again at 15; all are over at 25.
    await world.write(line('b*5g*8b*8g*90'), { labels: { host: 'a', job: 'api' } });
    await world.write(line('ggb*6g*90'), { labels: { host: 'b', job: 'api' } });
    await world.write(line('g*7b*7g*90'), { labels: { host: 'c', job: 'api' } });
    await world.rule({ group_timeseries_notifications: true });
    await world.until(60);
    const said = (channel: 'ops' | 'pager' | 'genie') => world.heard({ channel });
    expect(said('pager')).toEqual(['2 trigger host=a, job=api', '25 resolve host=a, job=api']);
    expect(said('ops')).toEqual(said('pager'));
    expect(said('genie')).toEqual(said('pager'));
  });

  it('begins a new message when all of its series had ended', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('bbbg*10bbbg*60'), { labels: { host: 'a' } });
    await world.write(line('bbbg*60'), { labels: { host: 'b' } });
    await world.rule({ group_timeseries_notifications: true });
    await world.until(40);
    expect(world.heard()).toEqual([
      '2 pager trigger 2 series',
      '7 pager resolve 2 series',
      '15 pager trigger host=a',
      '20 pager resolve host=a',
    ]);
    const keys = world.received.map(({ key }) => key);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[3]).toBe(keys[2]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it('counts its labels and tells of its series', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    for (const [host, value] of [
      ['a', 7],
      ['b', 8],
      ['c', 9],
    ] as const) {
      await world.write(line(`${value}*90`), { labels: { host, job: 'api' } });
    }
    await world.rule({
      group_timeseries_notifications: true,
      properties: { description: '{{ $labels.host }} and {{ $labels.job }}: {{ $value }}' },
    });
    await world.until(70);
    expect(world.heard()).toEqual(['2 pager trigger 3 series', '63 pager repeat 3 series']);
    expect(details(world, 0)['series']).toBe('host=a, job=api: 7\nhost=b, job=api: 8\nhost=c, job=api: 9');
    expect(details(world, 0)['description']).toBe('3 values and api: 8.98');
  });

  it('goes on as it began when it is switched over while it fires', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    for (const host of ['a', 'b']) await world.write(line('b*20g*60'), { labels: { host } });
    const together = await world.rule({ rule_name: 'together', group_timeseries_notifications: true });
    const apart = await world.rule({ rule_name: 'apart', group_timeseries_notifications: false });
    await world.until(10);
    await world.edit(together, { group_timeseries_notifications: false });
    await world.edit(apart, { group_timeseries_notifications: true });
    await world.until(40);
    expect(world.heard({ channel: 'pager', rule: 'together' })).toEqual(['2 trigger 2 series', '24 resolve 2 series']);
    expect(world.heard({ channel: 'pager', rule: 'apart' })).toEqual([
      '2 trigger host=a',
      '2 trigger host=b',
      '24 resolve host=a',
      '24 resolve host=b',
    ]);
  });

  it('survives a restart with the same key', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('b*9g*60'), { labels: { host: 'a' } });
    await world.write(line('g*5b*9g*60'), { labels: { host: 'b' } });
    await world.rule({ group_timeseries_notifications: true });
    for (let minute = 0; minute < 25; minute++) {
      await world.pass(1);
      if (minute % 3 === 0) await world.restart();
    }
    expect(world.heard()).toEqual(['2 pager trigger host=a', '18 pager resolve host=a']);
    expect(world.received[1]!.key).toBe(world.received[0]!.key);
  });
});

describe.skipIf(isMissing)('series', () => {
  it('that vanish end when nothing of them is left, those that come are judged at once', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('b*5'), { labels: { pod: 'old' } });
    await world.write(line('b*30'), { labels: { pod: 'new' }, from: 6 });
    await world.rule();
    await world.until(20);
    // The last sample is at 4; seven minutes of window and recovery are empty at 11.
    expect(world.heard()).toEqual(['2 pager trigger pod=old', '8 pager trigger pod=new', '11 pager resolve pod=old']);
    expect(details(world, 2)['reason']).toBe('There is no data any more.');
  });

  it('that are too many leave those that fire alone, and one alert says so', async () => {
    const world = await worlds.open({ channels: ['hook'], settings: { series_limit: 5 } });
    // The last of its kind by name, so that it would be the first to be left out.
    await world.write(line('b*15g*60'), { labels: { host: 'z' } });
    for (let index = 0; index < 20; index++) {
      await world.write(line('b*10'), { labels: { host: `h${String(index).padStart(2, '0')}` }, from: 5 });
    }
    await world.rule();
    await world.until(7);
    expect(world.heard({ channel: 'hook' })).toEqual(['2 trigger host=z']);
    await world.until(40);
    const said = world.heard({ channel: 'hook' });
    const about = (text: string) => said.filter((each) => each.includes(text));
    expect(about('host=z')).toEqual(['2 trigger host=z', '19 resolve host=z']);
    expect(about('obsiac_limit')).toEqual(['7 trigger obsiac_limit=series', '19 resolve obsiac_limit=series']);
    const other = about('host=h');
    expect(other.filter((each) => each.includes('trigger'))).toHaveLength(4);
    expect(other.filter((each) => each.includes('resolve'))).toHaveLength(4);
    expect(said).toHaveLength(12);
    const limit = world.received.find(({ title }) => title.includes('obsiac_limit'))!;
    expect(limit.body.payload.custom_details.value).toBe('21');
  });
});

describe.skipIf(isMissing)('a message', () => {
  const PROPERTIES = {
    description: 'host {{ $labels.host }} has {{ $value | humanize }} errors{{ if gt $value 5.0 }}!{{ end }}',
    runbook: { link: 'https://runbooks.example.net/{{ .Labels.host }}' },
    annotations: { team_note: 'call {{ $labels.team }}', broken: '{{ $labels.host | nonsense }}', plain: 'as it is' },
  };

  it('renders its templates, and sends a broken one as it is with a note', async () => {
    const world = await worlds.open({ channels: ['ops', 'pager', 'genie', 'hook'] });
    await world.write(line('b*5g*40'), { labels: { host: 'a', team: 'shop' } });
    const { entity } = await world.rule({ properties: PROPERTIES });
    const metadata = {
      team: 'Shop team',
      tags: ['eu', 'prod'],
      links: [{ name: 'Board', url: 'https://board.example.net/1' }],
    };
    await world.call('PUT', `/entities/${entity}/metadata`, metadata);
    await world.until(20);
    for (const channel of ['ops', 'pager', 'genie', 'hook'] as const) {
      expect(world.heard({ channel })).toEqual(['2 trigger host=a, team=shop', '9 resolve host=a, team=shop']);
    }
    const of = (channel: string) => world.received.filter((each) => each.channel === channel);
    const [pager] = of('pager');
    expect(pager!.body).toMatchObject({
      routing_key: 'key-of-pager'.padEnd(32, '0'),
      event_action: 'trigger',
      links: [
        { href: 'https://runbooks.example.net/a', text: 'Runbook' },
        { href: 'https://board.example.net/1', text: 'Board' },
      ],
      payload: {
        summary: 'Too many errors on Shop 1: host=a, team=shop',
        severity: 'critical',
        class: 'Static Threshold',
        custom_details: {
          description: 'host a has 9 errors!',
          runbook: 'https://runbooks.example.net/a',
          team_note: 'call shop',
          broken: PROPERTIES.annotations.broken,
          plain: 'as it is',
          alert_condition: '> 5',
          bad_minutes: '3 of 5',
          team: 'Shop team',
          query: `last_over_time(${world.metric}[1m])`,
        },
      },
    });
    expect(pager!.body.payload.custom_details.notes).toContain('annotation "broken" failed');
    expect(of('hook')[0]!.body.payload).toEqual({ ...pager!.body.payload });
    expect(of('hook')[0]!.key).toBe(pager!.key);
    const [alert, close] = of('genie');
    expect(alert!.body).toMatchObject({
      message: 'Too many errors on Shop 1: host=a, team=shop',
      alias: pager!.key,
      description: 'host a has 9 errors!',
      tags: ['eu', 'prod'],
    });
    expect(close!.path).toBe(`/opsgenie/v2/alerts/${pager!.key}/close?identifierType=alias`);
    const slack = JSON.stringify(of('ops')[0]!.body);
    for (const text of ['host a has 9 errors!', 'call shop', 'https://runbooks.example.net/a']) {
      expect(slack).toContain(text);
    }
    expect(of('pager')[1]!.body.payload.custom_details).toMatchObject({
      description: 'host a has 9 errors!',
      reason: 'It recovered.',
      ended_at: '2026-06-01T12:09:00.000Z',
    });
  });

  it('mentions those whom the attachment names', async () => {
    const world = await worlds.open({ channels: ['ops'] });
    await world.write(line('b*5g*40'));
    const { entity } = await world.rule({}, { attach: {} });
    const attachment = { entity_id: entity, severity: 'breach', mention: ['@here', 'U024BE7LH'] };
    await world.call('POST', `/notification_settings/${world.channelId('ops')}/attach`, attachment);
    await world.until(4);
    expect(world.received.map(({ body }) => body.text)).toEqual([
      'TRIGGER: Too many errors on Shop 1 <!here> <@U024BE7LH>',
    ]);
  });
});
