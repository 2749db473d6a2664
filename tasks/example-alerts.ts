/**
 * The alerting half of `npm start`: metrics of the examples' checkout service go into the embedded data source, four of its six
 * instances do not answer for a while, and what Slack would have got is printed as it arrives, until the alert has resolved.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { remoteWriteBodies, type WrittenSeries } from './remote-write.ts';

type Show = (line?: string) => void;

/** A local server that stands for Slack, PagerDuty and Opsgenie, and shows what comes. Nothing leaves the machine. */
export interface LocalReceivers {
  /** Base address. */
  readonly url: string;
  /** Resolves with true when a message of Slack holds all the texts, with false after the wait. */
  saw(texts: readonly string[], waitMs: number): Promise<boolean>;
  close(): void;
}

const MOST_BYTES = 1_000_000;

export async function startLocalReceivers(show: Show): Promise<LocalReceivers> {
  const messages: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      if (body.length < MOST_BYTES) body += chunk;
    });
    request.on('end', () => {
      const isSlack = request.url?.startsWith('/slack') ?? false;
      response.statusCode = isSlack ? 200 : 202;
      response.end(isSlack ? 'ok' : '{"status":"success"}');
      if (isSlack) messages.push(showSlack(body, show));
      else
        show(
          `\n${clock()} ${/pagerduty/.test(request.url ?? '') ? 'PagerDuty' : 'Opsgenie'} would have got: ${firstLine(body)}`,
        );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the local receivers have no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    saw: async (texts, waitMs) => {
      for (const until = Date.now() + waitMs; Date.now() < until; await sleep(200)) {
        if (messages.some((message) => texts.every((text) => message.includes(text)))) return true;
      }
      return false;
    },
    close: () => server.close(),
  };
}

const clock = () => new Date().toTimeString().slice(0, 8);

function showSlack(body: string, show: Show): string {
  const lines = textsOf(body);
  show(`\n${clock()} Slack would have got:`);
  for (const line of lines) show(`  | ${line}`);
  return lines.join('\n');
}

/** Action and summary of a PagerDuty event, or the message of an Opsgenie alert. */
function firstLine(body: string): string {
  try {
    const { event_action, payload, message } = JSON.parse(body) as Record<string, never> & {
      payload?: { summary?: string };
    };
    return [event_action, payload?.summary ?? message].filter((part) => part !== undefined).join(': ');
  } catch {
    return body.slice(0, 200);
  }
}

/** Every text of a Slack message, as lines; the body itself when it is no JSON. */
function textsOf(body: string): string[] {
  const found: string[] = [];
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inside] of Object.entries(value)) {
        if (key === 'text' && typeof inside === 'string') found.push(inside.replaceAll('\n', ' '));
        else collect(inside);
      }
    }
  };
  try {
    collect(JSON.parse(body));
  } catch {
    return body.split('\n');
  }
  return [...new Set(found.filter((line) => line.trim() !== ''))];
}

const INSTANCES = 6;
const STOPPED = 4;
const MINUTE = 60_000;
const STEP_MS = 15_000;
const ENGINE_WAIT_MS = 60_000;

/** Metrics of the checkout service, sent by Prometheus remote write with the credentials of `intake.json`. */
export class CheckoutMetrics {
  readonly #url: string;
  readonly #authorization: string;
  readonly #stop = new AbortController();
  #up = INSTANCES;
  #sentUntil = 0;
  #sending: Promise<void> | undefined;

  constructor(origin: string, dataDir: string) {
    this.#url = `${origin}/api/v1/write`;
    const file = path.join(dataDir, 'intake.json');
    this.#authorization = (JSON.parse(readFileSync(file, 'utf8')) as { authorization: string }).authorization;
  }

  /** An hour of six instances, then some minutes of two, and so on until `recover`. Waits for the engine. @throws Error */
  async begin(): Promise<void> {
    const now = Date.now();
    await this.#sendUntilTaken(instances(now - 60 * MINUTE, now - 3 * MINUTE, INSTANCES));
    this.#up = INSTANCES - STOPPED;
    await this.#send(instances(now - 3 * MINUTE, now, this.#up));
    this.#sentUntil = now;
    this.#sending = this.#keepSending();
  }

  recover(): void {
    this.#up = INSTANCES;
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#sending;
  }

  async #keepSending(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await sleep(1000, undefined, { signal }).catch(() => undefined);
      const to = Date.now();
      // A sample that was not taken now is not missed: the next one comes in fifteen seconds.
      await this.#send(instances(this.#sentUntil, to, this.#up)).catch(() => undefined);
      this.#sentUntil = to;
    }
  }

  /** The engine takes some seconds to start; until then the answer is 503. */
  async #sendUntilTaken(series: readonly WrittenSeries[]): Promise<void> {
    const until = Date.now() + ENGINE_WAIT_MS;
    for (;;) {
      try {
        return await this.#send(series);
      } catch (error) {
        if (Date.now() > until) throw error;
        await sleep(500);
      }
    }
  }

  async #send(series: readonly WrittenSeries[]): Promise<void> {
    for (const body of remoteWriteBodies(series)) {
      const response = await fetch(this.#url, {
        method: 'POST',
        body,
        signal: AbortSignal.timeout(30_000),
        headers: {
          authorization: this.#authorization,
          'content-type': 'application/x-protobuf',
          'content-encoding': 'snappy',
          'x-prometheus-remote-write-version': '0.1.0',
        },
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`metrics were answered ${response.status}: ${text}`);
    }
  }
}

function instances(from: number, to: number, up: number): WrittenSeries[] {
  const times: number[] = [];
  for (let time = Math.ceil(from / STEP_MS) * STEP_MS; time < to; time += STEP_MS) times.push(time);
  return Array.from({ length: INSTANCES }, (_, index) => ({
    labels: { __name__: 'up', job: 'checkout', env: 'production', instance: `checkout-${index + 1}:8080` },
    times,
    values: times.map(() => (index < up ? 1 : 0)),
  }));
}

export interface AlertsDemonstration {
  /** As the user would write it. */
  readonly config: string;
  readonly receivers: LocalReceivers;
  readonly metrics: CheckoutMetrics;
  readonly obsiac: (args: readonly string[], limitMs: number) => Promise<number>;
  readonly show: Show;
}

const RULE = 'Too few instances';
const COMMAND_LIMIT_MS = 60_000;
const FIRE_WAIT_MS = 120_000;
const RESOLVE_WAIT_MS = 180_000;

/** Never throws: whatever keeps the alert from being shown is told in a line. */
export async function demonstrateAlerts(demonstration: AlertsDemonstration): Promise<void> {
  const { config, receivers, metrics, obsiac, show } = demonstration;
  try {
    show(
      `\nMetrics of checkout go into the embedded data source; ${STOPPED} of its ${INSTANCES} instances do not answer.`,
    );
    show(`The rule "${RULE}" fires at less than three for two minutes.`);
    if (!(await receivers.saw([RULE, 'TRIGGER'], FIRE_WAIT_MS))) {
      show('It has not fired within two minutes; the log of the service says why.');
      return;
    }
    await obsiac(['-c', config, 'alerts'], COMMAND_LIMIT_MS);
    show(`\n${clock()} All ${INSTANCES} instances answer again.`);
    metrics.recover();
    if (!(await receivers.saw([RULE, 'RESOLVED'], RESOLVE_WAIT_MS))) {
      show('The alert has not resolved within three minutes; the log of the service says why.');
    }
    await obsiac(['-c', config, 'explain', RULE], COMMAND_LIMIT_MS);
  } catch (error) {
    show(`\nAlerts are not shown: ${(error as Error).message}`);
  }
}
