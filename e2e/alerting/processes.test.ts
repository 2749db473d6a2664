/** Processes that end, stand still and begin again: the same is said as if nothing had happened, once. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Postgres, postgresBinaries, startPostgres } from '../../tasks/postgres.ts';
import { startFaultySource } from './faulty-source.ts';
import { isMissing, useWorlds } from './servers.ts';
import { line, type World } from './world.ts';

const worlds = useWorlds();

/** Met from 4; not met at 9, 10, 11. */
const EPISODE = line('ggbbbbbg*30');
const SAID = ['4 ops trigger', '4 pager trigger', '11 ops resolve', '11 pager resolve'];

async function withEpisode(): Promise<World> {
  const world = await worlds.open();
  await world.write(EPISODE);
  await world.rule();
  return world;
}

describe.skipIf(isMissing)('a restart', () => {
  it.each([
    ['before anything', 1],
    ['while it is pending', 3],
    ['in the minute before it fires', 4],
    ['in the minute after it fires', 5],
    ['while it fires', 7],
    ['while it recovers', 10],
    ['in the minute after it resolved', 12],
  ])('%s changes nothing', async (_when, minute) => {
    const world = await withEpisode();
    await world.until(minute);
    await world.restart();
    await world.until(30);
    expect(world.heard()).toEqual(SAID);
  });

  it('every minute changes nothing', async () => {
    const world = await withEpisode();
    for (let minute = 0; minute < 14; minute++) {
      await world.pass(1);
      await world.restart();
    }
    expect(world.heard()).toEqual(SAID);
    expect(new Set(world.received.filter(({ channel }) => channel === 'pager').map(({ key }) => key)).size).toBe(1);
  });

  it('between evaluation and delivery loses no message', async () => {
    const world = await withEpisode();
    await world.until(4);
    await world.app.alerting!.evaluator!.tick();
    expect(world.received).toEqual([]);
    await world.restart();
    await world.until(30);
    expect(world.heard()).toEqual(SAID);
  });

  it('keeps what repeats in its rhythm', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('ggbb*150'));
    await world.rule();
    for (const minute of [30, 64, 66, 100, 127]) {
      await world.until(minute);
      await world.restart();
    }
    await world.until(140);
    expect(world.heard()).toEqual(['4 pager trigger', '65 pager repeat', '126 pager repeat']);
  });
});

describe.skipIf(isMissing)('a process that was away', () => {
  it('for 20 minutes tells of all that it missed, in order and once', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    // Fires at 6, resolves at 11; fires again at 16, and goes on.
    await world.write(line('ggggbbbggggggbbbbbbbbbbbbbbbg*20'));
    await world.rule();
    await world.until(3);
    world.skip(20);
    await world.pass(1);
    expect(world.heard()).toEqual(['23 pager trigger', '23 pager resolve', '23 pager trigger']);
    const [first, end, second] = world.received;
    expect(end!.key).toBe(first!.key);
    expect(second!.key).not.toBe(first!.key);
    const details = world.received.map(({ body }) => body.payload.custom_details);
    expect(details.map(({ started_at, ended_at }) => [started_at, ended_at])).toEqual([
      ['2026-06-01T12:06:00.000Z', undefined],
      ['2026-06-01T12:06:00.000Z', '2026-06-01T12:11:00.000Z'],
      ['2026-06-01T12:15:00.000Z', undefined],
    ]);
    await world.until(50);
    expect(world.heard().slice(3)).toEqual(['32 pager resolve']);
  });

  it('for 20 minutes while an alert fired that is over', async () => {
    const world = await withEpisode();
    await world.until(6);
    world.skip(20);
    await world.pass(10);
    expect(world.heard()).toEqual(['4 ops trigger', '4 pager trigger', '26 ops resolve', '26 pager resolve']);
  });

  it('and is started again tells the same', async () => {
    const world = await withEpisode();
    await world.until(2);
    world.skip(20);
    await world.restart();
    await world.pass(10);
    expect(world.heard().sort()).toEqual(['22 ops resolve', '22 ops trigger', '22 pager resolve', '22 pager trigger']);
    expect(world.heard({ channel: 'ops' })).toEqual(['22 trigger', '22 resolve']);
  });

  it('for longer than an hour looks one hour back', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    // One episode of 12 minutes that nobody sees, one within the last hour, one that goes on.
    await world.write(line('g*10b*5g*85b*5g*25b*100'));
    await world.rule();
    await world.until(5);
    world.skip(130);
    await world.pass(1);
    expect(world.heard()).toEqual(['135 pager trigger', '135 pager resolve', '135 pager trigger']);
    const times = world.received.map(({ body }) => body.payload.custom_details.started_at);
    expect(times).toEqual(['2026-06-01T13:42:00.000Z', '2026-06-01T13:42:00.000Z', '2026-06-01T14:12:00.000Z']);
    await world.pass(10);
    expect(world.heard()).toHaveLength(3);
  });

  it('for longer than an hour ends what fired before', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('b*10g*200'));
    await world.rule();
    await world.until(5);
    world.skip(150);
    await world.pass(5);
    expect(world.heard()).toEqual(['2 pager trigger', '155 pager resolve']);
  });

  it('repeats what it should have repeated, and keeps the rhythm', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('b*300'));
    await world.rule();
    await world.until(50);
    world.skip(25);
    await world.until(130);
    expect(world.heard()).toEqual(['2 pager trigger', '75 pager repeat', '124 pager repeat']);
    // Nobody looks at minute 185, and the hour before the next look does not reach it.
    world.skip(130);
    await world.until(265);
    expect(world.heard().slice(3)).toEqual(['260 pager repeat', '262 pager repeat']);
  });

  it('is told apart from a new rule, which begins now', async () => {
    const world = await worlds.open({ channels: ['pager'] });
    await world.write(line('g*10b*5g*40'));
    await world.until(30);
    await world.rule();
    await world.pass(10);
    expect(world.heard()).toEqual([]);
  });
});

const binaries = postgresBinaries();

describe.skipIf(isMissing || 'missing' in binaries)('two processes on one database', () => {
  let postgres: Postgres;

  beforeAll(async () => {
    if ('bin' in binaries) postgres = await startPostgres(binaries.bin);
  });
  afterAll(() => postgres?.stop());

  it('tell of each alert once, whichever of them goes away', async () => {
    const world = await worlds.open({
      evaluators: 2,
      databaseUrl: await postgres.createDatabase(),
      channels: ['hook'],
    });
    const names = Array.from({ length: 12 }, (_, index) => `r${index}`);
    await world.write(EPISODE);
    for (const rule_name of names) await world.rule({ rule_name });
    await world.until(3);
    await world.restart(1);
    await world.until(6);
    await world.restart(0);
    await world.until(30);
    for (const rule of names) expect(world.heard({ channel: 'hook', rule })).toEqual(['4 trigger', '11 resolve']);
    expect(world.received).toHaveLength(24);
  });

  it('go on where they were when the database was away', async () => {
    const databaseUrl = await postgres.createDatabase();
    const world = await worlds.open({ evaluators: 2, databaseUrl, channels: ['hook'] });
    const names = Array.from({ length: 12 }, (_, index) => `r${index}`);
    await world.write(EPISODE);
    for (const rule_name of names) await world.rule({ rule_name });
    await world.until(3);
    await postgres.pause();
    for (let minute = 3; minute < 9; minute++) {
      await expect(world.look([0])).rejects.toThrow();
      await expect(world.look([1])).rejects.toThrow();
      world.skip(1);
    }
    await postgres.resume();
    await world.until(30);
    for (const rule of names) expect(world.heard({ channel: 'hook', rule })).toEqual(['9 trigger', '11 resolve']);
    expect(world.received).toHaveLength(24);
  });

  it('tell the end of a rule that was deleted while the end could not be written', async () => {
    const databaseUrl = await postgres.createDatabase();
    const world = await worlds.open({ databaseUrl, channels: ['hook'] });
    await world.write(line('b*40'));
    await world.rule({ rule_name: 'stays' }, { metric: 'none' });
    const { entity, rule } = await world.rule({ rule_name: 'goes' });
    await world.until(5);
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      await client.query(`
        create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
        create trigger refused before update on alert_episodes for each row execute function refuse()`);
      await world.call('DELETE', `/entities/${entity}/alert-rules/${rule}`);
      await world.write(line('b*30'), { metric: 'none', from: 5 });
      await world.pass(4);
      expect(world.heard({ channel: 'hook', rule: 'goes' })).toEqual(['2 trigger']);
      expect(world.heard({ channel: 'hook', rule: 'stays' })).toEqual(['7 trigger']);
      await client.query('drop trigger refused on alert_episodes');
    } finally {
      await client.end();
    }
    await world.pass(2);
    expect(world.heard({ channel: 'hook', rule: 'goes' })).toEqual(['2 trigger', '9 resolve']);
  });

  it('tell once that a data source is down, and once that it is back', async () => {
    const source = await startFaultySource(worlds.server.url);
    try {
      const databaseUrl = await postgres.createDatabase();
      const world = await worlds.open({ evaluators: 2, databaseUrl, channels: ['hook'], sourceUrl: source.url });
      await world.write(line('g*60'));
      for (let index = 0; index < 12; index++) await world.rule({ rule_name: `r${index}` });
      await world.until(5);
      await source.fail('error');
      await world.until(12);
      await world.restart(0);
      await world.until(16);
      await world.restart(1);
      await world.until(20);
      await source.fail('none');
      await world.until(30);
      const about = 'Data source metrics does not answer';
      expect(world.heard({ channel: 'hook' })).toEqual([`7 trigger ${about}`, `20 resolve ${about}`]);
    } finally {
      await source.stop();
    }
  });
});
