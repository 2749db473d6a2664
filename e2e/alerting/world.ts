/**
 * A whole service on a clock of the test's own, with a real data source and real HTTP servers for the receivers: minutes pass when
 * the test says so, and every message is known by the minute in which it came.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type App, createApp, settingsSchema } from '@obsiac/service';
import type { MetricsServer } from '../../tasks/metrics-server.ts';

/** The first minute of every test, in minutes since 1970: a quiet hour. */
export const START = Math.floor(Date.UTC(2026, 5, 1, 12, 0) / 60_000);

/** A message as it came in. */
export interface Received {
  /** Minutes after `START`. */
  readonly minute: number;
  readonly channel: string;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: every receiver has a body of its own
  readonly body: any;
}

export interface SeriesOptions {
  readonly labels?: Readonly<Record<string, string>>;
  /** Minutes after `START` of the first value; 0 unless told. */
  readonly from?: number;
}

export interface World {
  readonly app: App;
  readonly received: Received[];
  /** Minutes after `START` that have passed. */
  readonly minute: number;
  /** One sample a minute of the metric `m`; NaN leaves a gap. */
  write(values: readonly number[], options?: SeriesOptions): Promise<void>;
  /** Lets minutes pass one by one: evaluates what is due and delivers what is to be sent. */
  pass(minutes: number): Promise<void>;
  /** Lets minutes pass without anybody looking. */
  skip(minutes: number): void;
  /** A call of the API below the organisation; throws when it is refused. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  call(method: string, resource: string, body?: unknown): Promise<any>;
  /** An alert manager with one indicator on `m` and one rule; gives the ids. */
  rule(document?: Record<string, unknown>, query?: string): Promise<RuleIds>;
  /** How the receiver of a channel answers from now on; undefined: 200. */
  answer(channel: string, status: number | undefined): void;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface RuleIds {
  readonly entity: string;
  readonly kpi: string;
  readonly rule: string;
}

export interface WorldOptions {
  readonly source: Pick<MetricsServer, 'url' | 'write'> & { flush?(): Promise<void> };
  readonly flavour: 'prometheus' | 'victoriametrics';
  /** Metric name of this test, so that tests share a server. */
  readonly metric: string;
  readonly recoverMinutes?: number;
  readonly databaseUrl?: string | undefined;
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const world = new TestWorld(options);
  await world.open();
  return world;
}

const CHANNELS = [
  { name: 'ops', type: 'slack' },
  { name: 'pager', type: 'pagerduty' },
] as const;

class TestWorld implements World {
  readonly received: Received[] = [];
  readonly #options: WorldOptions;
  readonly #dataDir = mkdtempSync(path.join(tmpdir(), 'obsiac-world-'));
  readonly #answers = new Map<string, number | undefined>();
  #now = START * 60_000 + 1000;
  #app: App | undefined;
  #receivers: { readonly url: string; close(): Promise<void> } | undefined;
  #tokens = new Map<string, string>();
  #entities = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  get app(): App {
    if (!this.#app) throw new Error('the world has stopped');
    return this.#app;
  }

  get minute(): number {
    return Math.floor(this.#now / 60_000) - START;
  }

  async open(): Promise<void> {
    this.#receivers = await this.#startReceivers();
    await this.#startService();
    await this.call('POST', '/datasources', {
      name: 'metrics',
      url: this.#options.source.url,
      properties: { flavour: this.#options.flavour, evaluation_delay_seconds: 0 },
    });
    const { url } = this.#receivers;
    for (const { name, type } of CHANNELS) {
      await this.call('POST', '/notification_settings', {
        name,
        type,
        destination: type === 'slack' ? `${url}/slack/${name}` : `routing-key-of-${name}-0000000000`.slice(0, 32),
        send_resolved: true,
      });
    }
  }

  async #startService(): Promise<void> {
    const receivers = this.#receivers!.url;
    const settings = settingsSchema.parse({
      data_dir: this.#dataDir,
      port: 0,
      logs: false,
      log_level: 'silent',
      recover_minutes: this.#options.recoverMinutes ?? 3,
      pagerduty_url: `${receivers}/pagerduty`,
      opsgenie_url: `${receivers}/opsgenie`,
      ...(this.#options.databaseUrl && { database_url: this.#options.databaseUrl }),
    });
    const app = createApp(settings, { now: () => this.#now, background: false, retryDelay: () => 1 });
    await app.start();
    this.#app = app;
    this.#tokens = new Map();
  }

  async #startReceivers(): Promise<{ url: string; close(): Promise<void> }> {
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => {
        const [, receiver = '', name = ''] = (request.url ?? '').split('/');
        const channel = receiver === 'slack' ? name : 'pager';
        const status = this.#answers.get(channel) ?? (receiver === 'pagerduty' ? 202 : 200);
        if (status < 300) {
          const json = JSON.parse(body) as Received['body'];
          this.received.push({ minute: this.minute, channel, path: request.url ?? '', body: json });
        }
        response.statusCode = status;
        response.setHeader('content-type', 'application/json');
        response.end(receiver === 'slack' ? 'ok' : '{"status":"success","message":"Event processed","dedup_key":"x"}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return {
      url: `http://127.0.0.1:${address.port}`,
      close: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  answer(channel: string, status: number | undefined): void {
    this.#answers.set(channel, status);
  }

  async write(values: readonly number[], { labels = {}, from = 0 }: SeriesOptions = {}): Promise<void> {
    const kept = values.map((value, index) => ({ value, time: (START + from + index) * 60_000 })).filter(isSample);
    await this.#options.source.write([
      {
        labels: { __name__: this.#options.metric, ...labels },
        times: kept.map(({ time }) => time),
        values: kept.map(({ value }) => value),
      },
    ]);
    await this.#options.source.flush?.();
  }

  async pass(minutes: number): Promise<void> {
    for (let each = 0; each < minutes; each++) {
      await this.look();
      this.#now += 60_000;
    }
  }

  /** All slots of this minute have come at its end. */
  async look(): Promise<void> {
    const { evaluator, notifier } = this.app.alerting!;
    await evaluator?.tick();
    await notifier?.deliverDue();
  }

  skip(minutes: number): void {
    this.#now += minutes * 60_000;
  }

  async restart(): Promise<void> {
    await this.app.stop();
    await this.#startService();
  }

  async call(method: string, resource: string, body?: unknown): Promise<unknown> {
    const { apiBaseUrl } = this.app.address!;
    const config = JSON.parse(readFileSync(this.app.configFile!, 'utf8')) as ConfigFile;
    const scope = method === 'DELETE' ? 'delete' : method === 'GET' ? 'read' : 'write';
    const token = this.#tokens.get(scope) ?? (await this.#exchange(config.api_config[scope].refresh_token));
    this.#tokens.set(scope, token);
    const answer = await fetch(`${apiBaseUrl}/organizations/default${resource}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-last9-api-token': `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status === 401) {
      this.#tokens.delete(scope);
      return this.call(method, resource, body);
    }
    if (!answer.ok) throw new Error(`${method} ${resource}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  async #exchange(refreshToken: string): Promise<string> {
    const answer = await fetch(`${this.app.address!.apiBaseUrl}/oauth/access_token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refresh_token: refreshToken }),
    });
    return ((await answer.json()) as { access_token: string }).access_token;
  }

  async rule(document: Record<string, unknown> = {}, query = this.#options.metric): Promise<RuleIds> {
    this.#entities += 1;
    const entity = await this.call('POST', '/entities', {
      name: `Shop ${this.#entities}`,
      type: 'service',
      external_ref: `shop-${this.#entities}`,
      entity_class: 'alert-manager',
      data_source: 'metrics',
    });
    const { id } = entity as { id: string };
    const kpi = (await this.call('POST', `/entities/${id}/kpis`, {
      name: 'Errors',
      definition: { query, source: 'levitate', unit: 'count' },
      kpi_type: 'custom',
    })) as { id: string };
    const rule = (await this.call('POST', `/entities/${id}/alert-rules`, ruleDocument(document))) as { id: string };
    const channels = (await this.call('GET', '/notification_settings')) as { id: number }[];
    for (const channel of channels) {
      const body = { entity_id: id, severity: 'breach' };
      await this.call('POST', `/notification_settings/${channel.id}/attach`, body);
    }
    return { entity: id, kpi: kpi.id, rule: rule.id };
  }

  async stop(): Promise<void> {
    await this.#app?.stop();
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

/** Fires at more than 5 in three of five minutes unless told otherwise. */
export function ruleDocument(document: Record<string, unknown>): Record<string, unknown> {
  return {
    rule_name: 'Too many errors',
    primary_indicator: 'Errors',
    condition: 'expr > 5',
    alert_condition: 'count_true(result) >= 3',
    eval_window: 5,
    severity: 'breach',
    group_timeseries_notifications: false,
    ...document,
  };
}
