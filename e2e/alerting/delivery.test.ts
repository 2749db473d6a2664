/** Receivers that fail and come back: every message arrives, in order, and what is refused is seen. */
import { describe, expect, it } from 'vitest';
import { isMissing, useWorlds } from './servers.ts';
import { line, type World } from './world.ts';

const worlds = useWorlds();

/** Fires at 2, ends at 9. */
async function episode(): Promise<World> {
  const world = await worlds.open();
  await world.write(line('b*5g*200'));
  await world.rule();
  return world;
}

interface Listed {
  readonly event: string;
  readonly status: string;
  readonly attempts: number;
  readonly last_error: string;
  readonly channel_name: string;
}

async function outbox(world: World, channel: string): Promise<string[]> {
  const { notifications } = (await world.call('GET', '/notifications')) as { notifications: Listed[] };
  return notifications
    .filter(({ channel_name }) => channel_name === channel)
    .map(({ event, status, last_error }) => `${event} ${status} ${last_error}`.trim())
    .reverse();
}

describe.skipIf(isMissing)('a receiver', () => {
  it.each([500, 503, 429, 408, 'cut'] as const)(
    'that answers %s for some minutes gets its messages afterwards',
    async (reply) => {
      const world = await episode();
      await world.until(2);
      world.answer('pager', reply);
      await world.until(5);
      world.answer('pager', undefined);
      await world.until(12);
      expect(world.heard({ channel: 'ops' })).toEqual(['2 trigger', '9 resolve']);
      expect(world.heard({ channel: 'pager' })).toEqual(['5 trigger', '9 resolve']);
      expect(world.refused.map(({ minute, channel }) => `${minute} ${channel}`)).toEqual([
        '2 pager',
        '3 pager',
        '4 pager',
      ]);
    },
  );

  it('that is away until the alert is over hears of its beginning, then of its end', async () => {
    const world = await episode();
    world.answer('pager', 500);
    await world.until(40);
    expect(world.heard({ channel: 'pager' })).toEqual([]);
    world.answer('pager', undefined);
    await world.until(60);
    const said = world.heard({ channel: 'pager' }).map((each) => each.replace(/^\d+ /, ''));
    expect(said).toEqual(['trigger', 'resolve']);
    expect(world.received.filter(({ channel }) => channel === 'ops')).toHaveLength(2);
    // Tried again with longer and longer pauses: far less than once a minute.
    expect(world.refused.length).toBeLessThan(20);
  });

  it('that asks for patience is left alone for so long', async () => {
    const world = await episode();
    await world.until(2);
    world.answer('pager', 429, { 'retry-after': '300' });
    await world.until(4);
    world.answer('pager', undefined);
    await world.until(12);
    expect(world.heard({ channel: 'pager' })).toEqual(['7 trigger', '9 resolve']);
    expect(world.refused).toEqual([{ minute: 2, channel: 'pager', reply: 429 }]);
  });

  it('that refuses a message is not asked again, and the refusal can be read', async () => {
    const world = await episode();
    world.answer('pager', 400);
    await world.until(5);
    world.answer('pager', undefined);
    await world.until(12);
    expect(world.refused).toEqual([{ minute: 2, channel: 'pager', reply: 400 }]);
    expect(world.heard({ channel: 'ops' })).toEqual(['2 trigger', '9 resolve']);
    expect(world.heard({ channel: 'pager' })).toEqual(['9 resolve']);
    expect(await outbox(world, 'pager')).toEqual([
      'trigger dead The receiver refused the message: 400 (Refused.).',
      'resolve delivered',
    ]);
  });

  it('that nobody listens at gets its messages once its address is right', async () => {
    const world = await worlds.open({ channels: ['ops', 'hook'] });
    await world.write(line('b*5g*60'));
    await world.rule();
    const id = world.channelId('hook');
    const document = (destination: string) => ({ name: 'hook', type: 'generic_webhook', destination });
    // A port that was free a moment ago, and on which nobody listens.
    await world.call('PUT', `/notification_settings/${id}`, document('http://127.0.0.1:9/'));
    await world.until(4);
    expect(await outbox(world, 'hook')).toEqual(['trigger pending The receiver refuses connections.']);
    await world.call('PUT', `/notification_settings/${id}`, document(world.destination('hook')));
    await world.until(12);
    expect(world.heard({ channel: 'hook' })).toEqual(['4 trigger', '9 resolve']);
    expect(world.heard({ channel: 'ops' })).toEqual(['2 trigger', '9 resolve']);
  });

  it('that fails does not hold up the others, nor other alerts', async () => {
    const world = await worlds.open({ channels: ['ops', 'pager', 'genie', 'hook'] });
    await world.write(line('b*5g*60'), { labels: { host: 'a' } });
    await world.write(line('ggb*5g*60'), { labels: { host: 'b' } });
    await world.rule();
    world.answer('genie', 500);
    world.answer('pager', 'cut');
    await world.until(20);
    const said = ['2 trigger host=a', '4 trigger host=b', '9 resolve host=a', '11 resolve host=b'];
    expect(world.heard({ channel: 'ops' })).toEqual(said);
    expect(world.heard({ channel: 'hook' })).toEqual(said);
    expect(world.heard({ channel: 'genie' })).toEqual([]);
    world.answer('genie', undefined);
    await world.until(45);
    const told = world.heard({ channel: 'genie' }).map((each) => each.replace(/^\d+ /, ''));
    expect(told.filter((each) => each.endsWith('a'))).toEqual(['trigger host=a', 'resolve host=a']);
    expect(told.filter((each) => each.endsWith('b'))).toEqual(['trigger host=b', 'resolve host=b']);
    expect(told).toHaveLength(4);
  });

  it('that fails across restarts gets each message once', async () => {
    const world = await episode();
    world.answer('pager', 500);
    for (let minute = 0; minute < 14; minute++) {
      await world.pass(1);
      await world.restart();
    }
    world.answer('pager', undefined);
    await world.until(40);
    expect(world.heard({ channel: 'pager' }).map((each) => each.replace(/^\d+ /, ''))).toEqual(['trigger', 'resolve']);
    expect(world.heard({ channel: 'ops' })).toEqual(['2 trigger', '9 resolve']);
  });

  it('is told of an alert that fires again after the end of the one before', async () => {
    const world = await worlds.open({ channels: ['ops'] });
    await world.write(line('b*3g*6b*40'));
    await world.rule();
    world.answer('ops', 500);
    await world.until(12);
    expect(world.heard()).toEqual([]);
    world.answer('ops', undefined);
    await world.until(40);
    expect(world.heard({ channel: 'ops' }).map((each) => each.replace(/^\d+ /, ''))).toEqual([
      'trigger',
      'resolve',
      'trigger',
    ]);
  });

  it('that takes no ends hears of an alert that fires again', async () => {
    const world = await worlds.open({ channels: ['hook'] });
    await world.write(line('b*3g*6b*40'));
    await world.rule();
    world.answer('hook', ({ event_action }) => (event_action === 'resolve' ? 500 : undefined));
    await world.until(14);
    expect(world.heard({ channel: 'hook' })).toEqual(['2 trigger', '11 trigger']);
  });
});
