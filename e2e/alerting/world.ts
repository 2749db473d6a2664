/**
 * A whole service on a clock of the test's own, with a real data source and real HTTP servers for the receivers: minutes pass when
 * the test says so, and every message is known by the minute in which it came.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type App, createApp, type Settings, settingsSchema } from '@obsiac/service';
import type { MetricsServer } from '../../tasks/metrics-server.ts';
import { CHANNELS, type ChannelName, type Receivers, type Replies, type Reply, startReceivers } from './receivers.ts';

/** The first minute of every test, in minutes since 1970: a Monday at noon, UTC. */
export const START = Math.floor(Date.UTC(2026, 5, 1, 12, 0) / 60_000);

/** A message as it came in. */
export interface Received {
  /** Minutes after `START`. */
  readonly minute: number;
  readonly channel: ChannelName;
  /** `repeat`: still firing. */
  readonly event: 'trigger' | 'repeat' | 'resolve';
  /** `Too many errors on Shop 1: host=a` */
  readonly title: string;
  /** PagerDuty's `dedup_key`, Opsgenie's `alias`; empty for Slack. */
  readonly key: string;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: every receiver has a body of its own
  readonly body: any;
}

/** A request to a receiver that did not take it. */
export interface Refused {
  readonly minute: number;
  readonly channel: ChannelName;
  readonly reply: Reply;
}

export interface SeriesOptions {
  readonly labels?: Readonly<Record<string, string>>;
  /** Minutes after `START` of the first value; 0 unless told. */
  readonly from?: number;
  /** Name of the metric; the world's unless told. */
  readonly metric?: string;
}

export interface RuleIds {
  readonly entity: string;
  readonly kpi: string;
  readonly rule: string;
}

export interface RuleOptions {
  /** PromQL; by default the sample of the very minute of the world's metric. */
  readonly query?: string;
  /** A metric other than the world's, for the default query. */
  readonly metric?: string;
  /** Name of the data source; `metrics` unless told. */
  readonly source?: string;
  /** An entity that is there already. */
  readonly entity?: string;
  /** Attached channels with their severity; all of the world's for `breach` unless told. */
  readonly attach?: Readonly<Partial<Record<ChannelName, 'breach' | 'threat'>>>;
}

export interface HeardOptions {
  readonly channel?: ChannelName;
  /** Name of a rule: only its messages, shown without the name. */
  readonly rule?: string;
}

export interface World {
  readonly app: App;
  /** One for each evaluator. */
  readonly apps: readonly App[];
  /** Where the first process keeps its metadata. */
  readonly database: { readonly dataDir: string; readonly databaseUrl: string | undefined };
  /** Name of the metric that rules and samples are of unless told. */
  readonly metric: string;
  readonly received: Received[];
  readonly refused: Refused[];
  /** Minutes after `START` that have passed. */
  readonly minute: number;
  /** One sample a minute of a metric; NaN leaves a gap. */
  write(values: readonly number[], options?: SeriesOptions): Promise<void>;
  /** Lets minutes pass one by one: evaluates what is due and delivers what is to be sent. */
  pass(minutes: number): Promise<void>;
  /** Lets minutes pass until the minute is the one that comes next. */
  until(minute: number): Promise<void>;
  /** One look of the processes at this minute, of those given or of all. */
  look(which?: readonly number[]): Promise<void>;
  /** Lets minutes pass without anybody looking. */
  skip(minutes: number): void;
  /** A call of the API below the organisation; throws when it is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  call(method: string, resource: string, body?: unknown): Promise<any>;
  /** An access token for a method. */
  token(method: string): Promise<string>;
  /** An alert manager with one indicator and one rule; gives the ids. */
  rule(document?: Record<string, unknown>, options?: RuleOptions): Promise<RuleIds>;
  /** Changes members of a rule's document. */
  edit(ids: RuleIds, change: Record<string, unknown>): Promise<void>;
  /** Replaces the query of the indicator. */
  editQuery(ids: RuleIds, query: string): Promise<void>;
  attach(channel: ChannelName, entity: string, severity?: 'breach' | 'threat'): Promise<void>;
  detach(channel: ChannelName, entity: string): Promise<void>;
  channelId(channel: ChannelName): number;
  /** What the document of a channel says when all is well. */
  destination(channel: ChannelName): string;
  /** How the receiver of a channel answers from now on; undefined: as when all is well. */
  answer(channel: ChannelName, replies: Replies | undefined, headers?: Readonly<Record<string, string>>): void;
  /** What came, one line for each message: `12 trigger host=a`; with `channel` left out `12 pager trigger host=a`. */
  heard(options?: HeardOptions): string[];
  /** Stops a process as an operator does, and starts it again. */
  restart(which?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface WorldOptions {
  readonly source: Pick<MetricsServer, 'url' | 'write'> & { flush?(): Promise<void> };
  readonly flavour: 'prometheus' | 'victoriametrics';
  /** Metric name of this test, so that tests share a server. */
  readonly metric: string;
  readonly recoverMinutes?: number;
  /** Where the service finds the data source, when something stands between. */
  readonly sourceUrl?: string;
  readonly sourceProperties?: Readonly<Record<string, unknown>>;
  readonly channels?: readonly ChannelName[];
  readonly databaseUrl?: string | undefined;
  readonly settings?: Partial<Settings>;
  /** Processes that share a database; 1 unless told. */
  readonly evaluators?: number;
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const world = new TestWorld(options);
  await world.open();
  return world;
}

/** The value of the very minute; a plain selector would find the sample of earlier minutes too. */
export function exactly(metric: string): string {
  return `last_over_time(${metric}[1m])`;
}

class TestWorld implements World {
  readonly received: Received[] = [];
  readonly refused: Refused[] = [];
  readonly #options: WorldOptions;
  readonly #dataDir = mkdtempSync(path.join(tmpdir(), 'obsiac-world-'));
  readonly #secretKey = randomBytes(32).toString('hex');
  readonly #apps: App[] = [];
  readonly #channelIds = new Map<ChannelName, number>();
  readonly #documents = new Map<string, Record<string, unknown>>();
  readonly #tokens = new Map<string, string>();
  #now = START * 60_000 + 1000;
  #receivers: Receivers | undefined;
  #entities = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  get app(): App {
    const [app] = this.#apps;
    if (!app) throw new Error('the world has not begun');
    return app;
  }

  get apps(): readonly App[] {
    return this.#apps;
  }

  get database(): World['database'] {
    return { dataDir: path.join(this.#dataDir, '0'), databaseUrl: this.#options.databaseUrl };
  }

  get metric(): string {
    return this.#options.metric;
  }

  get minute(): number {
    return Math.floor(this.#now / 60_000) - START;
  }

  async open(): Promise<void> {
    const receivers = await startReceivers(({ channel, path: where, headers: _, body, reply }) => {
      const { minute } = this;
      if (reply === 'cut' || reply >= 300) this.refused.push({ minute, channel, reply });
      else this.received.push({ minute, channel, path: where, body, ...this.#meaning(channel, where, body) });
    });
    this.#receivers = receivers;
    for (let which = 0; which < (this.#options.evaluators ?? 1); which++) await this.#startApp(which);
    await this.call('POST', '/datasources', {
      name: 'metrics',
      url: this.#options.sourceUrl ?? this.#options.source.url,
      properties: { flavour: this.#options.flavour, evaluation_delay_seconds: 0, ...this.#options.sourceProperties },
    });
    for (const name of this.#options.channels ?? (['ops', 'pager'] as const)) {
      const document = { name, type: CHANNELS[name], destination: receivers.destination(name), send_resolved: true };
      const { id } = (await this.call('POST', '/notification_settings', document)) as { id: number };
      this.#channelIds.set(name, id);
    }
  }

  async #startApp(which: number): Promise<void> {
    const receivers = this.#receivers!.url;
    const settings = settingsSchema.parse({
      data_dir: path.join(this.#dataDir, String(which)),
      secret_key: this.#secretKey,
      port: 0,
      logs: false,
      log_level: 'silent',
      recover_minutes: this.#options.recoverMinutes ?? 3,
      pagerduty_url: `${receivers}/pagerduty`,
      opsgenie_url: `${receivers}/opsgenie`,
      ...(this.#options.databaseUrl && { database_url: this.#options.databaseUrl }),
      ...this.#options.settings,
    });
    const app = createApp(settings, { now: () => this.#now, background: false, retryDelay: () => 1 });
    await app.start();
    this.#apps[which] = app;
    if (which === 0) this.#tokens.clear();
  }

  #meaning(channel: ChannelName, where: string, body: Received['body']): Pick<Received, 'event' | 'title' | 'key'> {
    switch (CHANNELS[channel]) {
      case 'slack': {
        const [, event, title] = /^(TRIGGER|TRIGGER \(still firing\)|RESOLVED): ([^<]*?) ?(?:<[!@].*)?$/.exec(
          body.text,
        )!;
        const events = { TRIGGER: 'trigger', RESOLVED: 'resolve' } as const;
        return { event: events[event as keyof typeof events] ?? 'repeat', title: title!, key: '' };
      }
      case 'opsgenie': {
        const closed = /\/v2\/alerts\/([^/]+)\/close/.exec(where)?.[1];
        const key = closed === undefined ? (body.alias as string) : decodeURIComponent(closed);
        return { ...this.#known(channel, key, closed === undefined ? body.message : undefined), key };
      }
      default: {
        const key = body.dedup_key as string;
        const title = body.payload.summary as string;
        if (body.event_action === 'resolve') return { event: 'resolve', title, key };
        return { ...this.#known(channel, key, title), key };
      }
    }
  }

  /** A second message with the same key is a repeat. @param title undefined for an end that does not tell it */
  #known(channel: ChannelName, key: string, title: string | undefined): Pick<Received, 'event' | 'title'> {
    const before = this.received.find((each) => each.channel === channel && each.key === key);
    if (title === undefined) return { event: 'resolve', title: before?.title ?? '' };
    return { event: before ? 'repeat' : 'trigger', title };
  }

  answer(channel: ChannelName, replies: Replies | undefined, headers?: Readonly<Record<string, string>>): void {
    this.#receivers!.answer(channel, replies, headers);
  }

  async write(values: readonly number[], options: SeriesOptions = {}): Promise<void> {
    const { labels = {}, from = 0, metric = this.#options.metric } = options;
    const kept = values.map((value, index) => ({ value, time: (START + from + index) * 60_000 })).filter(isSample);
    if (kept.length === 0) return;
    const times = kept.map(({ time }) => time);
    await this.#options.source.write([
      { labels: { __name__: metric, ...labels }, times, values: kept.map(({ value }) => value) },
    ]);
    await this.#options.source.flush?.();
  }

  async pass(minutes: number): Promise<void> {
    for (let each = 0; each < minutes; each++) {
      await this.look();
      this.#now += 60_000;
    }
  }

  async until(minute: number): Promise<void> {
    await this.pass(minute - this.minute);
  }

  async look(which: readonly number[] = [...this.#apps.keys()]): Promise<void> {
    for (const each of which) await this.#apps[each]!.alerting!.evaluator?.tick();
    for (const each of which) await this.#apps[each]!.alerting!.notifier?.deliverDue();
  }

  skip(minutes: number): void {
    this.#now += minutes * 60_000;
  }

  heard({ channel, rule }: HeardOptions = {}): string[] {
    return this.received
      .filter((each) => channel === undefined || each.channel === channel)
      .filter((each) => rule === undefined || each.title.startsWith(`${rule} on `))
      .map((each) => {
        const labels = /^.* on Shop \d+(?:: (.*))?$/.exec(each.title)?.[1];
        const about = each.title.includes(' on Shop ') ? (labels ?? '') : each.title;
        return [each.minute, channel === undefined ? each.channel : '', each.event, about]
          .filter((part) => part !== '')
          .join(' ');
      });
  }

  async restart(which = 0): Promise<void> {
    await this.#apps[which]!.stop();
    await this.#startApp(which);
  }

  async call(method: string, resource: string, body?: unknown): Promise<unknown> {
    const token = await this.token(method);
    const answer = await fetch(`${this.app.address!.apiBaseUrl}/organizations/default${resource}`, {
      method,
      headers: {
        'x-last9-api-token': `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    // An hour of the test's clock may have passed.
    if (answer.status === 401) {
      this.#tokens.clear();
      return this.call(method, resource, body);
    }
    if (!answer.ok) throw new Error(`${method} ${resource}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  async token(method: string): Promise<string> {
    const config = JSON.parse(readFileSync(this.app.configFile!, 'utf8')) as ConfigFile;
    const scope = method === 'DELETE' ? 'delete' : method === 'GET' ? 'read' : 'write';
    const token = this.#tokens.get(scope) ?? (await this.#exchange(config.api_config[scope].refresh_token));
    this.#tokens.set(scope, token);
    return token;
  }

  async #exchange(refreshToken: string): Promise<string> {
    const answer = await fetch(`${this.app.address!.apiBaseUrl}/oauth/access_token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refresh_token: refreshToken }),
    });
    return ((await answer.json()) as { access_token: string }).access_token;
  }

  async rule(document: Record<string, unknown> = {}, options: RuleOptions = {}): Promise<RuleIds> {
    const { metric = this.#options.metric, query = exactly(metric) } = options;
    const entity = options.entity ?? (await this.#entity(options));
    const indicator = `Errors of ${metric}`;
    const kpi = (await this.call('POST', `/entities/${entity}/kpis`, kpiDocument(indicator, query))) as { id: string };
    const whole = ruleDocument(indicator, document);
    const rule = (await this.call('POST', `/entities/${entity}/alert-rules`, whole)) as { id: string };
    this.#documents.set(rule.id, whole);
    return { entity, kpi: kpi.id, rule: rule.id };
  }

  async #entity({ source = 'metrics', attach }: RuleOptions): Promise<string> {
    this.#entities += 1;
    const { id } = (await this.call('POST', '/entities', {
      name: `Shop ${this.#entities}`,
      type: 'service',
      external_ref: `shop-${this.#entities}`,
      entity_class: 'alert-manager',
      data_source: source,
    })) as { id: string };
    const all = Object.fromEntries([...this.#channelIds.keys()].map((name) => [name, 'breach' as const]));
    for (const [name, severity] of Object.entries(attach ?? all)) await this.attach(name as ChannelName, id, severity);
    return id;
  }

  async edit(ids: RuleIds, change: Record<string, unknown>): Promise<void> {
    const whole = { ...this.#documents.get(ids.rule), ...change };
    this.#documents.set(ids.rule, whole);
    await this.call('PUT', `/entities/${ids.entity}/alert-rules/${ids.rule}`, whole);
  }

  async editQuery(ids: RuleIds, query: string): Promise<void> {
    const name = this.#documents.get(ids.rule)!['primary_indicator'] as string;
    await this.call('PUT', `/entities/${ids.entity}/kpis/${ids.kpi}`, kpiDocument(name, query));
  }

  async attach(channel: ChannelName, entity: string, severity: 'breach' | 'threat' = 'breach'): Promise<void> {
    const body = { entity_id: entity, severity };
    await this.call('POST', `/notification_settings/${this.channelId(channel)}/attach`, body);
  }

  async detach(channel: ChannelName, entity: string): Promise<void> {
    await this.call('DELETE', `/notification_settings/${this.channelId(channel)}/attach?entity_id=${entity}`);
  }

  channelId(channel: ChannelName): number {
    const id = this.#channelIds.get(channel);
    if (id === undefined) throw new Error(`the world has no channel ${channel}`);
    return id;
  }

  destination(channel: ChannelName): string {
    return this.#receivers!.destination(channel);
  }

  async stop(): Promise<void> {
    for (const app of this.#apps) await app.stop();
    await this.#receivers?.close();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}

interface ConfigFile {
  readonly api_config: Record<'read' | 'write' | 'delete', { readonly refresh_token: string }>;
}

function isSample({ value }: { readonly value: number }): boolean {
  return !Number.isNaN(value);
}

function kpiDocument(name: string, query: string): Record<string, unknown> {
  return { name, definition: { query, source: 'levitate', unit: 'count' }, kpi_type: 'custom' };
}

/** Fires at more than 5 in three of five minutes unless told otherwise. */
function ruleDocument(indicator: string, document: Record<string, unknown>): Record<string, unknown> {
  return {
    rule_name: 'Too many errors',
    primary_indicator: indicator,
    condition: 'expr > 5',
    alert_condition: 'count_true(result) >= 3',
    eval_window: 5,
    severity: 'breach',
    group_timeseries_notifications: false,
    ...document,
  };
}

const GOOD = 1;
const BAD = 9;

/** One value for each letter: `b` is bad (9), `g` good (1), a digit itself, anything else a gap. `b*3` is short for `bbb`. */
export function line(text: string): number[] {
  return [...text.matchAll(/([a-z.\d])(?:\*(\d+))?/g)].flatMap(([, letter, times]) =>
    new Array<number>(Number(times ?? 1)).fill(
      letter === 'b' ? BAD : letter === 'g' ? GOOD : /\d/.test(letter!) ? Number(letter) : Number.NaN,
    ),
  );
}
