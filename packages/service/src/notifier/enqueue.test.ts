import type { Episode } from '@obsiac/model';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  contextOf,
  ended,
  enqueueMinute,
  episodeOf,
  fired,
  MIDNIGHT,
  type Minute,
  messageIn,
  type NotifyStore,
  ORGANIZATION,
  opened,
  openNotifyStore,
  PUBLIC_URL,
  told,
} from '../../test/notify.ts';
import { BACKENDS, cannotRun, stopDatabases } from '../../test/service.ts';
import type { DataSourceOutageRow } from '../metadata/tables.ts';
import { tellAbandonedEnds } from './abandoned.ts';
import { enqueueOutage } from './outage.ts';
import { pruneOutbox } from './prune.ts';

afterAll(stopDatabases);

const GROUPED = { group_timeseries_notifications: 1 };

describe.each(BACKENDS.map((backend) => ({ backend })))('the outbox on $backend', ({ backend }) => {
  describe.skipIf(cannotRun(backend))('what is said of a rule', () => {
    let outbox: NotifyStore;
    let pager: number;

    beforeAll(async () => {
      outbox = await openNotifyStore(backend);
    });
    afterAll(() => outbox.close());

    beforeEach(async () => {
      await outbox.reset();
      pager = await outbox.addChannel({ name: 'pager' });
      await outbox.attach(pager);
    });

    const at = (minute: number, rest: Omit<Minute, 'minute'> = {}) => enqueueMinute(outbox, { minute, ...rest });
    const said = async () => told(await outbox.rows());
    /** Units whose end is still to be told. */
    const untold = async () => (await outbox.rows()).filter(({ closed }) => closed === 0).map(({ unit_id }) => unit_id);

    /** Writes an open or ended episode, as the evaluator does. */
    const keep = (episode: Episode, resolvedMinute: number | null = null) =>
      outbox.store.db
        .insertInto('alert_episodes')
        .values({
          id: episode.id,
          organization_id: ORGANIZATION.id,
          entity_id: 'entity-1',
          rule_id: episode.ruleId,
          group_id: episode.groupId,
          series_key: episode.seriesKey,
          definition: 'd',
          first_bad_minute: episode.firstBadMinute,
          fired_minute: episode.firedMinute,
          resolved_minute: resolvedMinute,
          reason: resolvedMinute === null ? '' : 'no_data',
          value: episode.value,
          late: 0,
          facts: '{}',
        })
        .execute();

    it('is its beginning once, to each channel of the severity, and its end once', async () => {
      await outbox.attach(await outbox.addChannel({ name: 'chat' }), { mention: ['@here'] });
      await outbox.attach(await outbox.addChannel({ name: 'other severity' }), { severity: 'threat' });
      await outbox.addChannel({ name: 'not attached' });
      const a = episodeOf('a', MIDNIGHT);
      expect(await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)] })).toBe(2);
      for (let minute = 1; minute < 10; minute++) expect(await at(MIDNIGHT + minute, { open: [opened(a)] })).toBe(0);
      expect(await at(MIDNIGHT + 10, { events: [ended(a, MIDNIGHT + 10)] })).toBe(2);
      expect(await at(MIDNIGHT + 11)).toBe(0);
      expect(await said()).toEqual([
        `trigger ${a.id} → pager`,
        `trigger ${a.id} → chat`,
        `resolve ${a.id} → pager`,
        `resolve ${a.id} → chat`,
      ]);
      const [first, second, third] = await outbox.rows();
      expect(first).toMatchObject({ dedup_key: a.id, minute: MIDNIGHT, attempts: 0, entity_id: 'entity-1', closed: 1 });
      expect(messageIn(first!)).toEqual({
        kind: 'alert',
        event: 'trigger',
        title: 'Too many errors on Checkout: job=a',
        severity: 'breach',
        organization: 'acme',
        entity: {
          id: 'entity-1',
          name: 'Checkout',
          type: 'service',
          team: 'payments',
          tags: ['tier-1', 'checkout'],
          links: [{ name: 'Dashboard', url: 'https://grafana.example.com/d/1' }],
        },
        rule: {
          id: 'rule-1',
          name: 'Too many errors',
          type: 'Static Threshold',
          condition: '> 100',
          bad_minutes: 5,
          total_minutes: 10,
        },
        indicator: { name: 'Errors', query: 'sum by (job) (rate(errors_total[5m]))', unit: 'count' },
        data_source: 'prod',
        description: 'Errors of a are at 250.',
        runbook: 'https://runbooks.example.com/a',
        annotations: { 'Check Logs': 'https://logs.example.com/?q=a' },
        notes: [],
        labels: { job: 'a' },
        value: '250',
        series: [{ labels: { job: 'a' }, value: '250', since: MIDNIGHT * 60, explanation: '' }],
        series_count: 1,
        started_at: MIDNIGHT * 60,
        ended_at: null,
        reason: '',
        link: `${PUBLIC_URL}/organizations/acme/alert-managers/entity-1/rules/rule-1`,
        mention: [],
      });
      expect(messageIn(second!).mention).toEqual(['@here']);
      expect(messageIn(third!)).toMatchObject({
        event: 'resolve',
        ended_at: (MIDNIGHT + 10) * 60,
        reason: 'It recovered.',
        description: 'Errors of a are at 250.',
      });
    });

    it('is the same when a minute is done again, at any time', async () => {
      const a = episodeOf('a', MIDNIGHT);
      const minutes: Minute[] = [
        { minute: MIDNIGHT, open: [opened(a)], events: [fired(a)] },
        { minute: MIDNIGHT + 61, open: [opened(a)] },
        { minute: MIDNIGHT + 62, events: [ended(a, MIDNIGHT + 62)] },
      ];
      for (const minute of minutes) {
        await enqueueMinute(outbox, minute);
        await enqueueMinute(outbox, minute);
      }
      for (const minute of minutes) expect(await enqueueMinute(outbox, minute)).toBe(0);
      expect(await said()).toEqual([`trigger ${a.id} → pager`, `repeat 1 ${a.id} → pager`, `resolve ${a.id} → pager`]);
    });

    it('is nothing of it when the transaction is not committed', async () => {
      const a = episodeOf('a', MIDNIGHT);
      const minute = { minute: MIDNIGHT, open: [opened(a)], events: [fired(a)] };
      const rolledBack = outbox.store.db.transaction().execute(async (tx) => {
        const { enqueueNotifications } = await import('./enqueue.ts');
        expect(await enqueueNotifications(tx, await contextOf(tx, minute), { minute: MIDNIGHT, nowMs: 1 })).toBe(1);
        throw new Error('lease lost');
      });
      await expect(rolledBack).rejects.toThrow('lease lost');
      expect(await said()).toEqual([]);
    });

    it('is repeated every 61 minutes while it fires', async () => {
      const a = episodeOf('a', MIDNIGHT);
      await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)] });
      const repeats: number[] = [];
      for (let minute = 1; minute <= 190; minute++) {
        if ((await at(MIDNIGHT + minute, { open: [opened(a, { value: 300 })] })) > 0) repeats.push(minute);
      }
      expect(repeats).toEqual([61, 122, 183]);
      expect(messageIn((await outbox.rows())[1]!)).toMatchObject({
        event: 'repeat',
        value: '300',
        started_at: MIDNIGHT * 60,
      });
    });

    it.each([
      [{ renotify_enabled: false }, []],
      [{ renotify_interval_seconds: 600 }, [11, 22, 33, 44]],
      [{ renotify_interval_seconds: 600, renotify_occurrences: 2 }, [11, 22]],
      [{ renotify_interval_seconds: 1200, renotify_occurrences: -1 }, [21, 42]],
      [{ renotify_enabled: true, renotify_interval_seconds: 1800 }, [31]],
    ])('is repeated as the metadata says: %j', async (metadata, expected) => {
      const a = episodeOf('a', MIDNIGHT);
      const entity = { metadata: JSON.stringify(metadata) };
      await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)], entity });
      const repeats: number[] = [];
      for (let minute = 1; minute <= 50; minute++) {
        if ((await at(MIDNIGHT + minute, { open: [opened(a)], entity })) > 0) repeats.push(minute);
      }
      expect(repeats).toEqual(expected);
    });

    it('is one message for all series of a rule that groups, until the last has ended', async () => {
      const a = episodeOf('a', MIDNIGHT);
      const b = episodeOf('b', MIDNIGHT, { groupId: a.id, value: 150 });
      const c = episodeOf('c', MIDNIGHT + 30, { groupId: a.id, value: 900 });
      await at(MIDNIGHT, { open: [opened(a), opened(b)], events: [fired(a), fired(b)], rule: GROUPED });
      await at(MIDNIGHT + 30, { open: [opened(a), opened(b), opened(c)], events: [fired(c)], rule: GROUPED });
      await at(MIDNIGHT + 40, { open: [opened(b), opened(c)], events: [ended(a, MIDNIGHT + 40)], rule: GROUPED });
      await at(MIDNIGHT + 61, { open: [opened(b), opened(c, { value: Number.NaN })], rule: GROUPED });
      await at(MIDNIGHT + 70, { open: [opened(c)], events: [ended(b, MIDNIGHT + 70)], rule: GROUPED });
      await at(MIDNIGHT + 80, { events: [ended(c, MIDNIGHT + 80, 'no_data')], rule: GROUPED });
      expect(await said()).toEqual([`trigger ${a.id} → pager`, `repeat 1 ${a.id} → pager`, `resolve ${a.id} → pager`]);
      const [trigger, repeat, resolve] = (await outbox.rows()).map(messageIn);
      expect(trigger).toMatchObject({
        title: 'Too many errors on Checkout: 2 series',
        description: 'Errors of 2 values are at 249.',
        labels: { job: '2 values' },
        series_count: 2,
      });
      expect(repeat).toMatchObject({
        series: [
          { labels: { job: 'b' }, value: '200' },
          { labels: { job: 'c' }, value: '900', since: (MIDNIGHT + 30) * 60 },
        ],
        value: '893',
      });
      expect(resolve).toMatchObject({ ended_at: (MIDNIGHT + 80) * 60, reason: 'There is no data any more.' });
    });

    it('names twenty series and counts the rest', async () => {
      const first = episodeOf('0', MIDNIGHT);
      const all = Array.from({ length: 300 }, (_each, index) => episodeOf(`${index}`, MIDNIGHT, { groupId: first.id }));
      await at(MIDNIGHT, { open: all.map((each) => opened(each)), events: all.map(fired), rule: GROUPED });
      const [row] = await outbox.rows();
      expect(messageIn(row!)).toMatchObject({ series_count: 300, title: 'Too many errors on Checkout: 300 series' });
      expect(messageIn(row!).series).toHaveLength(20);
    });

    it('is a message for each of many series of a rule that does not group', async () => {
      const all = Array.from({ length: 600 }, (_each, index) => episodeOf(`${index}`, MIDNIGHT));
      expect(await at(MIDNIGHT, { open: all.map((each) => opened(each)), events: all.map(fired) })).toBe(600);
      expect(await at(MIDNIGHT + 1, { open: all.map((each) => opened(each)) })).toBe(0);
      expect(await at(MIDNIGHT + 61, { open: all.map((each) => opened(each)) })).toBe(600);
      expect(await at(MIDNIGHT + 62, { events: all.map((each) => ended(each, MIDNIGHT + 62)) })).toBe(600);
    });

    it('keeps the manner in which it began when grouping is switched while it fires', async () => {
      const a = episodeOf('a', MIDNIGHT);
      const b = episodeOf('b', MIDNIGHT + 1, { groupId: a.id });
      await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)], rule: GROUPED });
      await at(MIDNIGHT + 1, { open: [opened(a), opened(b)], events: [fired(b)] });
      await at(MIDNIGHT + 2, { open: [opened(b)], events: [ended(a, MIDNIGHT + 2)] });
      expect(await said()).toEqual([`trigger ${a.id} → pager`]);
      await at(MIDNIGHT + 3, { events: [ended(b, MIDNIGHT + 3)] });
      const c = episodeOf('c', MIDNIGHT + 10);
      const d = episodeOf('d', MIDNIGHT + 11, { groupId: c.id });
      await at(MIDNIGHT + 10, { open: [opened(c)], events: [fired(c)] });
      await at(MIDNIGHT + 11, { open: [opened(c), opened(d)], events: [fired(d)], rule: GROUPED });
      await at(MIDNIGHT + 12, { open: [opened(d)], events: [ended(c, MIDNIGHT + 12)], rule: GROUPED });
      expect(await said()).toEqual([
        `trigger ${a.id} → pager`,
        `resolve ${a.id} → pager`,
        `trigger ${c.id} → pager`,
        `trigger ${d.id} → pager`,
        `resolve ${c.id} → pager`,
      ]);
    });

    it('has beginning and end when both come in one call', async () => {
      const a = episodeOf('a', MIDNIGHT);
      const b = episodeOf('b', MIDNIGHT + 1, { groupId: a.id });
      const events = [fired(a), ended(a, MIDNIGHT + 5), fired(b), ended(b, MIDNIGHT + 6)];
      expect(await at(MIDNIGHT + 6, { events })).toBe(4);
      expect(await at(MIDNIGHT + 6, { events })).toBe(0);
      const c = episodeOf('c', MIDNIGHT + 20);
      const d = episodeOf('d', MIDNIGHT + 21, { groupId: c.id });
      await at(MIDNIGHT + 25, {
        events: [fired(c), fired(d), ended(c, MIDNIGHT + 25), ended(d, MIDNIGHT + 25)],
        rule: GROUPED,
      });
      expect(await said()).toEqual([
        `trigger ${a.id} → pager`,
        `trigger ${b.id} → pager`,
        `resolve ${a.id} → pager`,
        `resolve ${b.id} → pager`,
        `trigger ${c.id} → pager`,
        `resolve ${c.id} → pager`,
      ]);
      expect(messageIn((await outbox.rows())[4]!).series_count).toBe(2);
    });

    const a = episodeOf('a', MIDNIGHT);
    const mutes: [name: string, quiet: Omit<Minute, 'minute'>][] = [
      ['the rule is muted for ever', { rule: { mute_until: -1 } }],
      ['the rule is muted for a while', { rule: { mute_until: (MIDNIGHT + 30) * 60 } }],
      ['the entity is snoozed', { entity: { snoozed_until: (MIDNIGHT + 30) * 60 } }],
      [
        'a schedule mutes the rule',
        {
          rule: {
            recurring_mute_schedule: JSON.stringify({
              enabled: true,
              timezone: 'UTC',
              windows: [{ weekdays: ['mon'], start_time: '00:00', end_time: '00:30' }],
            }),
          },
        },
      ],
    ];

    it.each(mutes)('is not said while %s, and its beginning afterwards when it still fires', async (_name, quiet) => {
      await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)], ...quiet });
      await at(MIDNIGHT + 10, { open: [opened(a)], ...quiet });
      expect(await said()).toEqual([]);
      await at(MIDNIGHT + 30, { open: [opened(a)], ...(quiet.rule?.mute_until === -1 ? {} : quiet) });
      expect(await said()).toEqual([`trigger ${a.id} → pager`]);
      await at(MIDNIGHT + 91, { open: [opened(a)] });
      await at(MIDNIGHT + 92, { events: [ended(a, MIDNIGHT + 92)] });
      expect(await said()).toEqual([`trigger ${a.id} → pager`, `repeat 1 ${a.id} → pager`, `resolve ${a.id} → pager`]);
    });

    it.each(mutes)('is nothing when it began and ended while %s', async (_name, quiet) => {
      await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)], ...quiet });
      await at(MIDNIGHT + 10, { events: [ended(a, MIDNIGHT + 10)], ...quiet });
      await at(MIDNIGHT + 30);
      expect(await said()).toEqual([]);
      expect(await untold()).toEqual([]);
    });

    it.each(mutes)('is its end after %s when the beginning was said before', async (_name, quiet) => {
      await at(MIDNIGHT - 5, { open: [opened(a)], events: [fired(a)] });
      await keep(a);
      await at(MIDNIGHT, { open: [opened(a)], ...quiet });
      await outbox.store.db.deleteFrom('alert_episodes').execute();
      await keep(a, MIDNIGHT + 10);
      await at(MIDNIGHT + 10, { events: [ended(a, MIDNIGHT + 10, 'no_data')], ...quiet });
      expect(await said()).toEqual([`trigger ${a.id} → pager`]);
      expect(await untold()).toEqual([a.id]);
      await at(MIDNIGHT + 31);
      expect(await untold()).toEqual([]);
      expect(await said()).toEqual([`trigger ${a.id} → pager`, `resolve ${a.id} → pager`]);
      const [, row] = await outbox.rows();
      expect(messageIn(row!)).toMatchObject({ ended_at: (MIDNIGHT + 10) * 60, reason: 'There is no data any more.' });
    });

    it('is not said to a channel that is snoozed, until it wakes', async () => {
      const chat = await outbox.addChannel({ name: 'chat', snoozeUntil: (MIDNIGHT + 5) * 60 });
      await outbox.attach(chat);
      await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)] });
      expect(await said()).toEqual([`trigger ${a.id} → pager`]);
      await at(MIDNIGHT + 5, { open: [opened(a)] });
      expect(await said()).toEqual([`trigger ${a.id} → pager`, `trigger ${a.id} → chat`]);
      const snooze = (until: number) =>
        outbox.store.db
          .updateTable('notification_settings')
          .set({ snooze_until: until })
          .where('id', '=', chat)
          .execute();
      await snooze((MIDNIGHT + 20) * 60);
      await at(MIDNIGHT + 10, { events: [ended(a, MIDNIGHT + 10)] });
      expect((await said()).slice(2)).toEqual([`resolve ${a.id} → pager`]);
      expect(await untold()).toEqual([a.id]);
      await at(MIDNIGHT + 20);
      expect((await said()).slice(2)).toEqual([`resolve ${a.id} → pager`, `resolve ${a.id} → chat`]);
    });

    it('has its end recorded and not sent where nobody wants or can hear it', async () => {
      const silent = await outbox.addChannel({ name: 'silent', sendResolved: false });
      const deleted = await outbox.addChannel({ name: 'deleted' });
      await outbox.attach(silent);
      await outbox.attach(deleted);
      await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)] });
      await outbox.store.db
        .deleteFrom('notification_settings')
        .where((row) => row.or([row('id', '=', deleted), row('parent_id', '=', deleted)]))
        .execute();
      await at(MIDNIGHT + 1, { events: [ended(a, MIDNIGHT + 1)] });
      const rows = (await outbox.rows()).slice(3);
      expect(rows.map(({ status, last_error }) => [status, last_error])).toEqual([
        ['pending', ''],
        ['suppressed', 'The channel is set not to be told of ends (send_resolved).'],
        ['suppressed', 'The channel was deleted.'],
      ]);
      expect(await untold()).toEqual([]);
    });

    it('is its end when the rule and its attachments are gone', async () => {
      await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)], rule: GROUPED });
      await outbox.store.db.deleteFrom('notification_settings').where('parent_id', 'is not', null).execute();
      await at(MIDNIGHT + 3, { gone: true, events: [ended(a, MIDNIGHT + 3, 'rule_deleted')] });
      expect(await said()).toEqual([`trigger ${a.id} → pager`, `resolve ${a.id} → pager`]);
      expect(messageIn((await outbox.rows())[1]!).reason).toBe('The rule was deleted.');
    });

    it('is its end when a rule that is muted is deleted or disabled, and no evaluator asks any more', async () => {
      const snoozed = (MIDNIGHT + 600) * 60;
      await outbox.attach(await outbox.addChannel({ name: 'chat' }));
      await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)] });
      await keep(a);
      await outbox.store.db
        .updateTable('notification_settings')
        .set({ snooze_until: snoozed })
        .where('name', '=', 'chat')
        .execute();
      await at(MIDNIGHT + 5, { events: [ended(a, MIDNIGHT + 5)], rule: { mute_until: -1 } });
      expect(await tellAbandonedEnds(outbox.store)).toBe(0);
      await outbox.store.db
        .updateTable('alert_episodes')
        .set({ resolved_minute: MIDNIGHT + 5, reason: 'recovered' })
        .execute();
      expect(await tellAbandonedEnds(outbox.store)).toBe(0);
      await outbox.store.db.updateTable('alert_rules').set({ is_disabled: 1 }).execute();
      expect(await tellAbandonedEnds(outbox.store)).toBe(2);
      expect(await tellAbandonedEnds(outbox.store)).toBe(0);
      const rows = (await outbox.rows()).slice(2);
      expect(rows.map(({ event, next_attempt_at }) => [event, next_attempt_at])).toEqual([
        ['resolve', outbox.store.now()],
        ['resolve', snoozed * 1000],
      ]);
    });

    it('is said to a channel that is attached while it fires', async () => {
      await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)] });
      await outbox.attach(await outbox.addChannel({ name: 'late' }));
      await at(MIDNIGHT + 1, { open: [opened(a)] });
      expect(await said()).toEqual([`trigger ${a.id} → pager`, `trigger ${a.id} → late`]);
    });

    it('is its source where a template fails, with a note', async () => {
      const properties = JSON.stringify({
        description: 'on {{ $lables.job }}',
        annotations: { ok: '{{ $value }}', bad: '{{ nope }}' },
      });
      await at(MIDNIGHT, { open: [opened(a)], events: [fired(a)], rule: { properties } });
      expect(messageIn((await outbox.rows())[0]!)).toMatchObject({
        description: 'on {{ $lables.job }}',
        annotations: { ok: '250', bad: '{{ nope }}' },
        notes: [
          'The template of the description failed: Line 1: there is no variable $lables.',
          'The template of the annotation "bad" failed: Line 1: there is no function nope.',
        ],
      });
    });

    it('tells of the outage of a data source once to every channel, repeats it, and tells its end', async () => {
      await outbox.addChannel({ name: 'chat' });
      await outbox.addChannel({ name: 'asleep', snoozeUntil: (MIDNIGHT + 500) * 60 });
      const outage: DataSourceOutageRow = {
        id: 'outage-1',
        organization_id: ORGANIZATION.id,
        data_source_id: 'ds-1',
        data_source_name: 'prod',
        first_minute: MIDNIGHT - 3,
        ended_minute: null,
        error: 'it refuses connections',
        opened_by: '',
      };
      const tell = (minute: number, change: Partial<DataSourceOutageRow> = {}) =>
        outbox.store.db
          .transaction()
          .execute((tx) =>
            enqueueOutage(
              tx,
              { organization: ORGANIZATION, outage: { ...outage, ...change }, publicUrl: PUBLIC_URL },
              { minute, nowMs: minute * 60_000 },
            ),
          );
      expect(await tell(MIDNIGHT)).toBe(2);
      expect(await tell(MIDNIGHT + 1)).toBe(0);
      expect(await tell(MIDNIGHT + 61)).toBe(2);
      const over = { ended_minute: MIDNIGHT + 65 };
      expect(await tell(MIDNIGHT + 65, over)).toBe(2);
      expect(await tell(MIDNIGHT + 66, over)).toBe(0);
      expect(await said()).toEqual([
        'trigger outage-1 → pager',
        'trigger outage-1 → chat',
        'repeat 1 outage-1 → pager',
        'repeat 1 outage-1 → chat',
        'resolve outage-1 → pager',
        'resolve outage-1 → chat',
      ]);
      expect(await untold()).toEqual([]);
      const rows = await outbox.rows();
      expect(messageIn(rows[0]!)).toMatchObject({
        kind: 'outage',
        title: 'Data source prod does not answer',
        description: expect.stringContaining('it refuses connections'),
      });
      expect(messageIn(rows[4]!)).toMatchObject({ event: 'resolve', reason: 'The data source answers again.' });
    });

    it('is forgotten after a month, unless it goes on', async () => {
      const b = episodeOf('b', MIDNIGHT);
      await at(MIDNIGHT, { open: [opened(a), opened(b)], events: [fired(a), fired(b)] });
      await at(MIDNIGHT + 1, { open: [opened(a)], events: [ended(b, MIDNIGHT + 1)] });
      await outbox.store.db
        .updateTable('alert_notifications')
        .set({ status: 'delivered', finished_at: MIDNIGHT * 60_000 })
        .execute();
      const later = (days: number) => MIDNIGHT * 60_000 + days * 86_400_000;
      expect(await pruneOutbox(outbox.store.db, later(29))).toBe(0);
      expect(await pruneOutbox(outbox.store.db, later(31))).toBe(2);
      expect((await said())[0]).toContain(`trigger ${a.id}`);
    });
  });
});
