import { readFileSync, writeFileSync } from 'node:fs';
import type { NotificationMessage } from '@obsiac/api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RECEIVER_KINDS, type ReceiverKind, type Receivers, startReceivers } from '../../../test/receivers.ts';
import { send } from '../deliver/send.ts';
import { createAgent } from '../notifier.ts';
import { receiverOf } from './index.ts';
import { cut, type Delivery } from './receiver.ts';
import { cutEscaped, linkText } from './slack/escape.ts';
import { mentionsText } from './slack/mention.ts';

const START = Date.UTC(2026, 2, 2) / 1000;

const SINGLE: NotificationMessage = {
  kind: 'alert',
  event: 'trigger',
  title: 'Too many errors on Checkout: job=api',
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
  description: 'Errors of api are at 250. See <#ops> & tell @everyone.',
  runbook: 'https://runbooks.example.com/api?a=1&b=2',
  annotations: { 'Check Logs': 'https://logs.example.com/?q=api', identifier: 'checkout-errors' },
  notes: [],
  labels: { job: 'api' },
  value: '250',
  series: [{ labels: { job: 'api' }, value: '250', since: START, explanation: '' }],
  series_count: 1,
  started_at: START,
  ended_at: null,
  reason: '',
  link: 'https://obsiac.example.com/organizations/acme/alert-managers/entity-1/rules/rule-1',
  mention: ['@here', 'U024BE7LH', '<!subteam^S0614TZR7>', '@platform <oncall>'],
};

const GROUP: NotificationMessage = {
  ...SINGLE,
  title: 'Latency on Checkout: 25 series',
  severity: 'threat',
  rule: { ...SINGLE.rule, name: 'Latency', type: 'High Spike', condition: '> 0', bad_minutes: 1, total_minutes: 1 },
  description: '',
  runbook: '{{ $lables.job }}',
  annotations: {},
  notes: ['The template of the runbook link failed: Line 1: there is no variable $lables.'],
  labels: { job: '25 values' },
  series: [
    { labels: { job: 'a' }, value: '0.9 seconds', since: START, explanation: '0.9 is 3 times its usual 0.3.' },
    { labels: {}, value: '0.8 seconds', since: START + 60, explanation: '' },
  ],
  series_count: 25,
  mention: [],
};

const MESSAGES: Readonly<Record<string, NotificationMessage>> = {
  trigger: SINGLE,
  repeat: { ...SINGLE, event: 'repeat' },
  resolve: { ...SINGLE, event: 'resolve', ended_at: START + 900, reason: 'It recovered.' },
  group: GROUP,
};

/** Every text far too long. */
const HUGE: NotificationMessage = {
  ...GROUP,
  title: '<&>'.repeat(5000),
  description: '&'.repeat(50_000),
  entity: {
    ...SINGLE.entity,
    name: 'é'.repeat(3000),
    team: '😀'.repeat(3000),
    tags: Array.from({ length: 60 }, () => 'tag'.repeat(100)),
    links: Array.from({ length: 60 }, (_each, index) => ({
      name: '|'.repeat(500),
      url: `https://x.example.com/${index}`,
    })),
  },
  annotations: Object.fromEntries(Array.from({ length: 300 }, (_each, index) => [`a${index}`, 'x'.repeat(5000)])),
  series: Array.from({ length: 20 }, () => ({
    labels: { job: 'y'.repeat(5000) },
    value: '1',
    since: START,
    explanation: 'z'.repeat(5000),
  })),
  series_count: 20_000,
  notes: Array.from({ length: 300 }, () => 'n'.repeat(300)),
  mention: Array.from({ length: 100 }, () => 'U024BE7LH'),
};

describe('receivers', () => {
  let receivers: Receivers;
  const dispatcher = createAgent();
  beforeAll(async () => {
    receivers = await startReceivers();
  });
  beforeEach(() => receivers.clear());
  afterAll(async () => {
    await dispatcher.close();
    await receivers.stop();
  });

  const deliver = (
    kind: ReceiverKind,
    message: NotificationMessage,
    change: Partial<Delivery> = {},
    timeout = 10_000,
  ) => {
    const delivery: Delivery = {
      message,
      dedupKey: 'api@episode/1',
      destination: receivers.destination(kind),
      webhookHeaders: {},
      ...change,
    };
    const addresses = { pagerduty_url: receivers.origin, opsgenie_url: receivers.origin };
    return send(kind, delivery, { addresses, dispatcher, timeout, nowMs: START * 1000 });
  };

  describe.each(RECEIVER_KINDS)('%s', (kind) => {
    it.each(Object.keys(MESSAGES))('gets a %s as documented', async (name) => {
      expect(await deliver(kind, MESSAGES[name]!)).toEqual({ kind: 'delivered' });
      const [received] = receivers.requests;
      expect(received!.problems).toEqual([]);
      const { authorization } = received!.headers;
      const shown = { path: received!.path, ...(authorization ? { authorization } : {}), body: received!.body };
      const file = new URL(`${kind.replace('generic_', '')}/testdata/${name}.json`, import.meta.url);
      const text = `${JSON.stringify(shown, null, 2)}\n`.replaceAll(receivers.origin, 'http://receiver');
      if (process.env['UPDATE']) writeFileSync(file, text);
      expect(text).toBe(readFileSync(file, 'utf8'));
    });

    it('gets every text within its limits', async () => {
      expect(await deliver(kind, HUGE, { dedupKey: 'k'.repeat(2000) })).toEqual({ kind: 'delivered' });
      expect(receivers.requests[0]!.problems).toEqual([]);
      expect(JSON.stringify(receivers.requests[0]!.body)).toContain('…');
    });

    it.each<[string, Parameters<Receivers['misbehave']>[1], unknown]>([
      [
        '429',
        { status: 429, headers: { 'retry-after': '7' } },
        { kind: 'retry', retryAfter: 7000, reason: expect.stringContaining('429') },
      ],
      [
        '503 with a date',
        { status: 503, headers: { 'retry-after': new Date((START + 90) * 1000).toUTCString() } },
        { kind: 'retry', retryAfter: 90_000, reason: 'The receiver failed: 503.' },
      ],
      ['500', { status: 500 }, { kind: 'retry', retryAfter: undefined, reason: 'The receiver failed: 500.' }],
      ['a cut connection', 'cut', { kind: 'retry', reason: 'The connection to the receiver was cut.' }],
      ['silence', 'hang', { kind: 'retry', reason: 'The receiver did not answer within 0.5 seconds.' }],
      ['400', { status: 400 }, { kind: 'dead', reason: 'The receiver refused the message: 400.' }],
      ['401', { status: 401 }, { kind: 'dead', reason: 'The receiver refused the message: 401.' }],
      ['404', { status: 404 }, { kind: 'dead', reason: 'The receiver refused the message: 404.' }],
      ['410', { status: 410 }, { kind: 'dead', reason: 'The receiver refused the message: 410.' }],
      [
        'a redirection',
        { status: 302, headers: { location: 'https://elsewhere.example.com' } },
        { kind: 'dead', reason: 'The receiver answers with a redirection (302); give the address it leads to.' },
      ],
    ])('answers with %s', async (_name, step, result) => {
      receivers.misbehave(kind, step);
      expect(await deliver(kind, SINGLE, {}, step === 'hang' ? 500 : undefined)).toEqual(result);
      expect(receivers.requests).toHaveLength(1);
    });
  });

  it('are told why they refuse, without the secret, and a webhook is not quoted', async () => {
    const refusal = { status: 400, body: 'no_service' };
    receivers.misbehave('slack', refusal, { status: 400, body: `<html>${receivers.destination('slack')}` });
    expect(await deliver('slack', SINGLE)).toEqual({
      kind: 'dead',
      reason: 'The receiver refused the message: 400 (no_service).',
    });
    expect(await deliver('slack', SINGLE)).toEqual({ kind: 'dead', reason: 'The receiver refused the message: 400.' });
    const key = receivers.destination('pagerduty');
    receivers.misbehave('pagerduty', {
      status: 400,
      body: JSON.stringify({ message: 'Event object is invalid', errors: [`no ${key}`] }),
    });
    expect(await deliver('pagerduty', SINGLE)).toEqual({
      kind: 'dead',
      reason: 'The receiver refused the message: 400 (Event object is invalid: no ********).',
    });
    receivers.misbehave('opsgenie', { status: 403, body: JSON.stringify({ message: 'Could not authenticate' }) });
    expect(await deliver('opsgenie', SINGLE)).toMatchObject({
      reason: expect.stringContaining('(Could not authenticate)'),
    });
    receivers.misbehave('generic_webhook', { status: 400, body: 'internal secret' });
    expect(await deliver('generic_webhook', SINGLE)).toMatchObject({
      reason: 'The receiver refused the message: 400.',
    });
  });

  it('that cannot be reached are tried again', async () => {
    const unknown = { destination: 'http://hooks.invalid/services/T1/B1/Secret' };
    expect(await deliver('slack', SINGLE, unknown)).toEqual({
      kind: 'retry',
      reason: expect.stringMatching(/^The name of the receiver (is not known to DNS|could not be looked up)\.$/),
    });
    const closed = { destination: 'http://127.0.0.1:1/hook/x' };
    expect(await deliver('generic_webhook', SINGLE, closed)).toEqual({
      kind: 'retry',
      reason: 'The receiver refuses connections.',
    });
  });

  it('that are none are not tried', async () => {
    const nothing = { destination: 'C0123 #alerts' };
    const reason = 'The destination of the channel is not an http:// or https:// address.';
    expect(await deliver('slack', SINGLE, nothing)).toEqual({ kind: 'dead', reason });
    expect(await deliver('generic_webhook', SINGLE, { destination: 'file:///etc/passwd' })).toEqual({
      kind: 'dead',
      reason,
    });
    expect(await deliver('email' as ReceiverKind, SINGLE, { destination: 'a@example.com' })).toEqual({
      kind: 'dead',
      reason: 'E-mail is not built: use a Slack, PagerDuty, Opsgenie or webhook channel.',
    });
    expect(receiverOf('toString')).toBeUndefined();
  });

  it('get the headers of a webhook, but not those of the connection', async () => {
    const webhookHeaders = {
      Authorization: 'Bearer token',
      'X-Team': 'a',
      Host: 'evil',
      'Content-Length': '3',
      'bad name': 'x',
      'X-Injected': 'a\r\nb: c',
    };
    expect(await deliver('generic_webhook', SINGLE, { webhookHeaders })).toEqual({ kind: 'delivered' });
    const { headers } = receivers.requests[0]!;
    expect(headers).toMatchObject({ authorization: 'Bearer token', 'x-team': 'a' });
    expect(headers.host).not.toBe('evil');
    expect(headers['x-injected']).toBeUndefined();
  });

  it('read only the beginning of an answer', async () => {
    receivers.misbehave('slack', { status: 400, body: 'x'.repeat(5_000_000) });
    expect(await deliver('slack', SINGLE)).toMatchObject({ kind: 'dead' });
  });
});

describe('texts', () => {
  it('are cut between characters, with a mark', () => {
    expect(cut('abcdef', 6)).toBe('abcdef');
    expect(cut('abcdefg', 6)).toBe('abcde…');
    expect(cut('abcd😀e', 6)).toBe('abcd…');
    expect(cutEscaped('a&b', 7)).toBe('a&amp;b');
    expect(cutEscaped('a&b', 6)).toBe('a…');
    expect(cutEscaped('ab<c', 7)).toBe('ab&lt;c');
    expect(cutEscaped('😀😀', 3)).toBe('😀…');
  });

  it('link without breaking out', () => {
    expect(linkText('https://a.example.com/?a=1&b=2|x>', 'y|z')).toBe(
      '<https://a.example.com/?a=1&amp;b=2%7Cx&gt;|y¦z>',
    );
    expect(linkText('', 'only text')).toBe('only text');
  });

  it.each([
    [['@here'], '<!here>'],
    [['channel', '<!everyone>'], '<!channel> <!everyone>'],
    [['U024BE7LH', '<@W12345678>', '@U12345678'], '<@U024BE7LH> <@W12345678> <@U12345678>'],
    [['S0614TZR7', '<!subteam^S0614TZR7|@ops>'], '<!subteam^S0614TZR7> <!subteam^S0614TZR7>'],
    [['@alice, bob'], '@alice @bob'],
    [['<script>', '', ' '], '@&lt;script&gt;'],
  ])('mention %j as %s', (mentions, expected) => {
    expect(mentionsText(mentions)).toBe(expected);
  });
});
