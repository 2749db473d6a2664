import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ended,
  enqueueMinute,
  episodeOf,
  fired,
  MIDNIGHT,
  type NotifyStore,
  opened,
  openNotifyStore,
  told,
} from '../../test/notify.ts';
import { RECEIVER_KINDS, type ReceiverKind, type Receivers, startReceivers } from '../../test/receivers.ts';
import { BACKENDS, cannotRun, stopDatabases } from '../../test/service.ts';
import { CLAIM_FOR } from './deliver/claim.ts';
import { createNotifier, type Notifier, type NotifierOptions } from './notifier.ts';

afterAll(stopDatabases);

const CHILD = fileURLToPath(new URL('testdata/deliver-until-killed.ts', import.meta.url));

describe.each(BACKENDS.map((backend) => ({ backend })))('the notifier on $backend', ({ backend }) => {
  describe.skipIf(cannotRun(backend))('delivers', () => {
    let outbox: NotifyStore;
    let receivers: Receivers;
    let notifiers: Notifier[] = [];
    let children: ChildProcess[] = [];
    let lines: string[] = [];

    beforeAll(async () => {
      outbox = await openNotifyStore(backend);
      receivers = await startReceivers({ now: () => outbox.store.now() });
    });
    afterAll(async () => {
      await receivers.stop();
      await outbox.close();
    });
    beforeEach(async () => {
      await outbox.reset();
      receivers.clear();
      lines = [];
    });
    afterEach(async () => {
      for (const child of children) child.kill('SIGKILL');
      children = [];
      await Promise.all(notifiers.map((notifier) => notifier.stop()));
      notifiers = [];
    });

    const registry = () => new Registry();
    const open = (change: Partial<NotifierOptions> = {}): Notifier => {
      const notifier = createNotifier({
        store: outbox.store,
        log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
        registry: registry(),
        settings: { pagerduty_url: receivers.origin, opsgenie_url: receivers.origin },
        random: () => 0.5,
        ...change,
      });
      notifiers.push(notifier);
      return notifier;
    };
    const addChannel = async (kind: ReceiverKind, name: string = kind) => {
      const id = await outbox.addChannel({ name, type: kind, destination: receivers.destination(kind, name) });
      await outbox.attach(id);
      return id;
    };
    const a = episodeOf('a', MIDNIGHT);
    const fire = (episodes = [a]) =>
      enqueueMinute(outbox, {
        minute: MIDNIGHT,
        open: episodes.map((each) => opened(each)),
        events: episodes.map(fired),
      });
    const end = () => enqueueMinute(outbox, { minute: MIDNIGHT + 1, events: [ended(a, MIDNIGHT + 1)] });
    const many = (count: number) => Array.from({ length: count }, (_each, index) => episodeOf(`s${index}`, MIDNIGHT));
    const wait = (seconds: number) => {
      outbox.clock.extraMs += seconds * 1000;
    };
    const states = async () => (await outbox.rows()).map(({ status, attempts }) => `${status} ${attempts}`);

    it('to every kind of receiver, beginning and end with one key', async () => {
      for (const kind of RECEIVER_KINDS) await addChannel(kind);
      await fire();
      expect(await open().deliverDue()).toEqual({ delivered: 4, retried: 0, dead: 0, taken_over: 0 });
      await end();
      expect((await open().deliverDue()).delivered).toBe(4);
      expect(receivers.requests.flatMap(({ problems }) => problems)).toEqual([]);
      for (const kind of RECEIVER_KINDS) {
        const came = receivers.accepted(kind);
        expect(came.map(({ event }) => event)).toEqual(['trigger', 'resolve']);
        if (kind !== 'slack') expect(came.map(({ dedupKey }) => dedupKey)).toEqual([a.id, a.id]);
      }
      const rows = await outbox.rows();
      expect(new Set(rows.map(({ status, attempts, last_error }) => `${status} ${attempts} ${last_error}`))).toEqual(
        new Set(['delivered 1 ']),
      );
      expect(rows[0]!.finished_at).toBe(MIDNIGHT * 60_000);
      expect((await open().deliverDue()).delivered).toBe(0);
    });

    it('again after a failure, later each time, and what comes after it waits', async () => {
      await addChannel('generic_webhook');
      await fire();
      await end();
      receivers.misbehave('generic_webhook', { status: 500 }, 'cut', { status: 503 });
      const notifier = open();
      const due: number[] = [];
      for (let attempt = 0; attempt < 3; attempt++) {
        expect((await notifier.deliverDue()).retried).toBe(1);
        const [row] = await outbox.rows();
        due.push((row!.next_attempt_at - outbox.store.now()) / 1000);
        expect(row!.status).toBe('pending');
        wait(due.at(-1)! - 1);
        expect((await notifier.deliverDue()).retried).toBe(0);
        wait(1);
      }
      expect(due).toEqual([5, 10, 20]);
      expect((await outbox.rows())[0]!.last_error).toBe('The receiver failed: 503.');
      expect(receivers.accepted()).toEqual([]);
      expect((await notifier.deliverDue()).delivered).toBe(2);
      expect(receivers.accepted().map(({ event }) => event)).toEqual(['trigger', 'resolve']);
      expect(await states()).toEqual(['delivered 4', 'delivered 1']);
    });

    it('when the receiver said so, and leaves its channel alone until then', async () => {
      await addChannel('slack');
      await addChannel('generic_webhook');
      await fire(many(3));
      receivers.misbehaveAlways('slack', { status: 429, headers: { 'retry-after': '30' } });
      const notifier = open();
      await notifier.deliverDue();
      const refused = receivers.requests.filter(({ kind }) => kind === 'slack').length;
      expect(receivers.accepted('generic_webhook')).toHaveLength(3);
      receivers.misbehaveAlways('slack', undefined);
      wait(29);
      await notifier.deliverDue();
      expect(receivers.requests.filter(({ kind }) => kind === 'slack')).toHaveLength(refused);
      wait(1);
      await notifier.deliverDue();
      expect(receivers.accepted('slack')).toHaveLength(3);
    });

    it('not at all what is refused for good, and goes on with what comes after it', async () => {
      await addChannel('pagerduty');
      await fire();
      await end();
      receivers.misbehave('pagerduty', { status: 400, body: JSON.stringify({ message: 'Event object is invalid' }) });
      expect(await open().deliverDue()).toEqual({ delivered: 1, retried: 0, dead: 1, taken_over: 0 });
      const [trigger, resolve] = await outbox.rows();
      expect(trigger).toMatchObject({
        status: 'dead',
        attempts: 1,
        last_error: 'The receiver refused the message: 400 (Event object is invalid).',
        finished_at: outbox.store.now(),
      });
      expect(resolve!.status).toBe('delivered');
    });

    it('for a day, then gives up', async () => {
      await addChannel('generic_webhook');
      await fire();
      receivers.misbehaveAlways('generic_webhook', { status: 502 });
      const notifier = open();
      let attempts = 0;
      for (let minute = 0; minute <= 24 * 60 + 20; minute += 5) {
        attempts += (await notifier.deliverDue()).retried;
        wait(300);
      }
      const [row] = await outbox.rows();
      expect(row).toMatchObject({ status: 'dead', last_error: 'The receiver failed: 502. Given up after a day.' });
      expect(row!.finished_at! - row!.created_at).toBeGreaterThanOrEqual(86_400_000);
      expect(attempts).toBeGreaterThan(100);
    });

    it('to no channel faster than it may be told, and the others meanwhile', async () => {
      await addChannel('slack');
      await addChannel('generic_webhook');
      await fire(many(150));
      const notifier = open();
      await notifier.deliverDue();
      expect(receivers.accepted('slack')).toHaveLength(5);
      expect(receivers.accepted('generic_webhook')).toHaveLength(100);
      wait(1);
      await notifier.deliverDue();
      expect(receivers.accepted('slack')).toHaveLength(6);
      expect(receivers.accepted('generic_webhook')).toHaveLength(150);
      wait(3);
      await notifier.deliverDue();
      expect(receivers.accepted('slack')).toHaveLength(9);
      expect((await outbox.rows()).filter(({ status }) => status === 'pending')).toHaveLength(141);
    });

    it('to a channel as it is now', async () => {
      const moved = await addChannel('generic_webhook', 'moved');
      const gone = await addChannel('generic_webhook', 'gone');
      const mail = await outbox.addChannel({ name: 'mail', type: 'email', destination: 'a@example.com' });
      await outbox.attach(mail);
      await fire();
      await outbox.store.db
        .updateTable('notification_settings')
        .set({ destination: outbox.store.vault.seal(receivers.destination('generic_webhook', 'new')) })
        .where('id', '=', moved)
        .execute();
      await outbox.store.db
        .deleteFrom('notification_settings')
        .where((row) => row.or([row('id', '=', gone), row('parent_id', '=', gone)]))
        .execute();
      await open().deliverDue();
      expect(receivers.requests[0]!.path).toBe(new URL(receivers.destination('generic_webhook', 'new')).pathname);
      const rows = await outbox.rows();
      expect(rows.map(({ status, last_error }) => `${status}: ${last_error}`)).toEqual([
        'delivered: ',
        'dead: The channel was deleted.',
        'dead: E-mail is not built: use a Slack, PagerDuty, Opsgenie or webhook channel.',
      ]);
    });

    it('each message once, with several processes at the same outbox', async () => {
      await addChannel('generic_webhook', 'one');
      await addChannel('generic_webhook', 'two');
      await fire(many(80));
      const results = await Promise.all([open().deliverDue(), open().deliverDue(), open().deliverDue()]);
      expect(results.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(160);
      const came = receivers.requests.map(({ path, dedupKey }) => `${path} ${dedupKey}`);
      expect(came).toHaveLength(160);
      expect(new Set(came).size).toBe(160);
      expect(new Set(await states())).toEqual(new Set(['delivered 1']));
    });

    it('again, with the same key, what arrived without the sender learning it', async () => {
      await addChannel('generic_webhook');
      await fire();
      receivers.misbehave('generic_webhook', 'taken-and-cut');
      const notifier = open();
      expect((await notifier.deliverDue()).retried).toBe(1);
      wait(10);
      expect((await notifier.deliverDue()).delivered).toBe(1);
      expect(receivers.accepted().map(({ dedupKey }) => dedupKey)).toEqual([a.id, a.id]);
    });

    it('what a process that was killed between sending and recording had in hand', async () => {
      await addChannel('pagerduty');
      await fire();
      receivers.misbehave('pagerduty', 'hang');
      const job = {
        dataDir: outbox.dataDir,
        databaseUrl: outbox.databaseUrl,
        origin: receivers.origin,
        nowMs: outbox.store.now(),
      };
      const child = spawn(process.execPath, [CHILD, JSON.stringify(job)], { stdio: 'inherit' });
      children.push(child);
      await vi.waitFor(() => expect(receivers.requests).toHaveLength(1), { timeout: 30_000 });
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      expect((await open().deliverDue()).delivered).toBe(0);
      const [claimed] = await outbox.rows();
      expect(claimed).toMatchObject({ status: 'pending', attempts: 1 });
      wait((claimed!.claimed_until - outbox.store.now()) / 1000);
      expect((await open().deliverDue()).delivered).toBe(1);
      expect(receivers.requests.map(({ dedupKey }) => dedupKey)).toEqual([a.id, a.id]);
      expect(await states()).toEqual(['delivered 2']);
    });

    it('what a process that stands still had in hand, and lets it change nothing when it goes on', async () => {
      await addChannel('generic_webhook');
      await fire();
      receivers.misbehave('generic_webhook', 'hang');
      const still = open({ timeout: 1500 }).deliverDue();
      await vi.waitFor(() => expect(receivers.requests).toHaveLength(1), { timeout: 10_000 });
      wait(CLAIM_FOR / 1000);
      expect((await open().deliverDue()).delivered).toBe(1);
      const before = await outbox.rows();
      expect(await still).toEqual({ delivered: 0, retried: 0, dead: 0, taken_over: 1 });
      expect(await outbox.rows()).toEqual(before);
      expect(before[0]).toMatchObject({ status: 'delivered', last_error: '' });
    });

    it('without a secret in the log or in the outbox', async () => {
      for (const kind of RECEIVER_KINDS) {
        const id = await outbox.addChannel({
          name: kind,
          type: kind,
          destination: receivers.destination(kind, 'topsecret'),
          webhookHeaders: { 'x-key': 'headersecret' },
        });
        await outbox.attach(id);
        const echo = receivers.destination(kind, 'topsecret');
        receivers.misbehave(kind, { status: 500, body: JSON.stringify({ message: echo }) }, 'cut', {
          status: 403,
          body: echo,
        });
      }
      await fire();
      const notifier = open();
      for (let attempt = 0; attempt < 3; attempt++) {
        await notifier.deliverDue();
        wait(60);
      }
      const rows = await outbox.rows();
      expect(told(rows).every((line) => line.endsWith('(dead)'))).toBe(true);
      const everything = lines.join('\n') + JSON.stringify(rows);
      expect(lines.length).toBeGreaterThan(8);
      expect(everything).not.toContain(Buffer.from('topsecret').toString('hex').slice(0, 8));
      expect(everything).not.toContain('headersecret');
    });

    it('by itself once it is started, until it is stopped', async () => {
      await addChannel('slack');
      const notifier = open();
      notifier.start();
      await fire();
      await vi.waitFor(async () => expect(await states()).toEqual(['delivered 1']), { timeout: 20_000 });
      await notifier.stop();
      await end();
      expect((await outbox.rows())[1]!.status).toBe('pending');
    });

    it('and tells how it goes', async () => {
      await addChannel('generic_webhook');
      await addChannel('slack');
      await fire(many(3));
      receivers.misbehaveAlways('slack', { status: 404 });
      const kept = registry();
      const notifier = open({ registry: kept });
      wait(12);
      expect(await kept.metrics()).toMatch(/obsiac_outbox_pending 6\n[\s\S]*/);
      expect(await kept.metrics()).toContain('obsiac_outbox_oldest_pending_seconds 12\n');
      await notifier.deliverDue();
      const text = await kept.metrics();
      expect(text).toContain('obsiac_outbox_pending 0\n');
      expect(text).toContain('obsiac_outbox_oldest_pending_seconds 0\n');
      expect(text).toContain('obsiac_notifications_total{receiver="generic_webhook",result="delivered"} 3\n');
      expect(text).toContain('obsiac_notifications_total{receiver="slack",result="dead"} 3\n');
      expect(text).toContain('obsiac_notification_latency_seconds_count{receiver="generic_webhook"} 3\n');
      expect(text).toContain('obsiac_notification_latency_seconds_sum{receiver="generic_webhook"} 36\n');
      expect(text).toContain('obsiac_notification_attempt_duration_seconds_count{receiver="slack"} 3\n');
    });
  });
});
