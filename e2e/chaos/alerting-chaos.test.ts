/**
 * Three evaluators and two notifiers on one PostgreSQL, killed, stopped and cut off at random, or left without it, while rules fire
 * and resolve on a clock that runs faster. Afterwards the episodes are those that the samples alone demand, and each was told.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AlertingRule, judge, seriesKey, transition } from '@obsiac/model';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Postgres, postgresBinaries, startPostgres } from '../../tasks/postgres.ts';
import { startVictoriaMetrics, victoriaMetricsBinary } from '../../tasks/victoria-metrics.ts';

const SOAK = process.env['OBSIAC_SOAK'] === '1';
const RULES = SOAK ? 1000 : 60;
/** Virtual minutes; the soak takes ten real minutes. */
const MINUTES = SOAK ? 60 : 26;
const SPEED = SOAK ? 6 : 40;
const EVALUATORS = 3;
const NOTIFIERS = 2;
const PER_ENTITY = 20;
const QUIET = 8;
const RULE = { badMinutes: 3, totalMinutes: 5, recoverMinutes: 3 } as const;
/** Real seconds without disturbance at the end, at most: leases of the dead pass, and every message goes out. */
const CALM_SECONDS = 120;

const postgres = postgresBinaries();
const victoria = await victoriaMetricsBinary();
const missing = 'missing' in postgres || victoria.binary === undefined;

/** Repeats exactly. */
function randomness(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
const random = randomness(seed);
const start = Math.floor(Date.UTC(2026, 5, 1, 12, 0) / 60_000);

/** Bad and good stretches of every rule, quiet at both ends. */
const values = Array.from({ length: RULES }, () => {
  const own = randomness(Math.floor(random() * 2 ** 32));
  const line: number[] = [];
  let isBad = false;
  for (let minute = 0; minute < MINUTES; minute++) {
    if (own() < 0.2) isBad = !isBad;
    line.push(isBad && minute >= QUIET && minute < MINUTES - QUIET - 1 ? 10 : 1);
  }
  return line;
});

interface Told {
  readonly event: string;
  readonly dedup: string;
}

describe.skipIf(missing)('alerting under chaos', () => {
  const home = mkdtempSync(path.join(tmpdir(), 'obsiac-chaos-'));
  const told: Told[] = [];
  let database: Postgres;
  let databaseUrl: string;
  let source: Awaited<ReturnType<typeof startVictoriaMetrics>>;
  let receiver: Server;
  let receiverUrl: string;

  beforeAll(async () => {
    database = await startPostgres((postgres as { bin: string }).bin);
    databaseUrl = await database.createDatabase();
    source = await startVictoriaMetrics({ binary: victoria.binary!.path });
    await source.write(
      values.map((line, index) => ({
        labels: { __name__: 'chaos', rule: String(index) },
        times: line.map((_, minute) => (start + minute) * 60_000),
        values: line,
      })),
    );
    await source.flush();
    [receiver, receiverUrl] = await startReceiver(told);
  });
  afterAll(async () => {
    receiver?.close();
    await source?.stop();
    await database?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  it(
    `tells every episode, invents none (seed ${seed})`,
    async () => {
      const fleet = new Fleet({ home, databaseUrl, pagerdutyUrl: receiverUrl });
      try {
        await fleet.prepare(source.url);
        const disturbances = await fleet.live(database);
        const expected = expectedEpisodes(fleet.ruleIds);
        await untilCalm(async () => told.length >= 2 * expected.size && (await fleet.episodes()).size >= expected.size);
        const found = await fleet.episodes();
        console.log(
          [
            `seed ${seed}: ${RULES} rules, ${MINUTES} minutes at ${SPEED} times the speed`,
            `disturbances: ${JSON.stringify(disturbances)}`,
            `episodes: ${expected.size} expected, ${found.size} found; messages received: ${told.length}`,
          ].join('\n'),
        );
        expect(expected.size).toBeGreaterThan(RULES / 4);
        expect([...found].sort()).toEqual([...expected].sort());
        expectTold(expected, told);
      } finally {
        await fleet.end();
      }
    },
    SOAK ? 1_800_000 : 240_000,
  );
});

/** Waits until nothing more is to come, and a little longer for what should not. */
async function untilCalm(isDone: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + CALM_SECONDS * 1000;
  while (Date.now() < until && !(await isDone())) await sleep(500);
  await sleep(3000);
}

/** `rule id fired resolved`, in minutes after the start. */
function expectedEpisodes(ids: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const [index, line] of values.entries()) {
    const rule: AlertingRule = { id: ids[index]!, definition: '', missing: 'ignore', worst: 'greatest', ...RULE };
    const labels = { rule: String(index) };
    const base = { key: seriesKey(labels), labels, first: start, values: Float64Array.from(line) };
    const series = [judge(base, 'greater_than', 5)];
    const to = start + MINUTES - 1;
    const { episodes } = transition({ rule, episodes: [], series, from: start, to, identify });
    for (const { id, firedMinute, resolvedMinute } of episodes) {
      found.add(`${index} ${id} ${firedMinute - start} ${(resolvedMinute ?? Number.NaN) - start}`);
    }
  }
  return found;
}

function identify(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Every episode was told at least once, and under one key for each event. */
function expectTold(expected: ReadonlySet<string>, messages: readonly Told[]): void {
  const ids = new Set([...expected].map((line) => line.split(' ')[1]!));
  const triggered = new Set(messages.filter(({ event }) => event === 'trigger').map(({ dedup }) => dedup));
  const resolved = new Set(messages.filter(({ event }) => event === 'resolve').map(({ dedup }) => dedup));
  expect(sorted(triggered)).toEqual(sorted(ids));
  expect(sorted(resolved)).toEqual(sorted(ids));
}

const sorted = (set: ReadonlySet<string>) => [...set].sort();

async function startReceiver(told: Told[]): Promise<[Server, string]> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { event_action, dedup_key } = JSON.parse(body) as { event_action: string; dedup_key: string };
      told.push({ event: event_action, dedup: dedup_key });
      response.writeHead(202, { 'content-type': 'application/json' });
      response.end('{"status":"success","message":"Event processed"}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return [server, `http://127.0.0.1:${address.port}`];
}

type Role = 'evaluator' | 'notifier';

interface Member {
  readonly role: Role;
  readonly slot: number;
  readonly child: ChildProcess;
}

interface FleetOptions {
  readonly home: string;
  readonly databaseUrl: string;
  readonly pagerdutyUrl: string;
}

class Fleet {
  readonly #options: FleetOptions;
  readonly #members: Member[] = [];
  readonly #secret = Buffer.alloc(32, 7).toString('base64');
  /** Stands until all processes are there. */
  #clock: { real: number | null; readonly virtual: number } = { real: null, virtual: (start - 1) * 60_000 };
  #config: { org: string; api_base_url: string; refresh_token: string } | undefined;
  #rules: string[] = [];

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  async #spawn(role: Role, slot: number): Promise<Member> {
    const { home, databaseUrl, pagerdutyUrl } = this.#options;
    const settings = {
      data_dir: path.join(home, `${role}-${slot}`),
      database_url: databaseUrl,
      secret_key: this.#secret,
      port: 0,
      logs: false,
      log_level: 'error',
      roles: role,
      recover_minutes: RULE.recoverMinutes,
      pagerduty_url: pagerdutyUrl,
    };
    const program = path.join(import.meta.dirname, 'alerting-process.ts');
    const instructions = JSON.stringify({ settings, speed: SPEED, ...this.#clock });
    const child = spawn(process.execPath, [program, instructions], { stdio: ['pipe', 'pipe', 'inherit'] });
    const member = { role, slot, child };
    this.#members.push(member);
    const lines = createInterface({ input: child.stdout });
    await Promise.race([once(lines, 'line'), once(child, 'exit')]);
    return member;
  }

  /** Rules, channel and data source, through a process that neither evaluates nor delivers. */
  async prepare(sourceUrl: string): Promise<void> {
    const setUp = await this.#spawn('api' as Role, 0);
    const file = path.join(this.#options.home, 'api-0', 'config.json');
    const { api_config } = JSON.parse(readFileSync(file, 'utf8')) as { api_config: Record<string, never> };
    this.#config = api_config['write'];
    const call = await this.#client();
    await call('POST', '/datasources', {
      name: 'metrics',
      url: sourceUrl,
      properties: { flavour: 'victoriametrics', evaluation_delay_seconds: 0, timeout_seconds: 5 },
    });
    const channel = { name: 'pager', type: 'pagerduty', destination: 'routing-key-of-the-chaos-test000' };
    const { id: channelId } = await call('POST', '/notification_settings', channel);
    for (let first = 0; first < RULES; first += PER_ENTITY) await this.#createEntity(call, first, channelId);
    await this.#stop(setUp);
  }

  async #createEntity(call: Call, first: number, channelId: unknown): Promise<void> {
    const { id } = await call('POST', '/entities', {
      name: `Entity ${first}`,
      type: 'service',
      external_ref: `entity-${first}`,
      entity_class: 'alert-manager',
      data_source: 'metrics',
    });
    await call('POST', `/notification_settings/${channelId}/attach`, { entity_id: id, severity: 'breach' });
    for (let index = first; index < Math.min(first + PER_ENTITY, RULES); index++) {
      const name = `Indicator ${index}`;
      const definition = { query: `chaos{rule="${index}"}`, unit: 'count' };
      await call('POST', `/entities/${id}/kpis`, { name, definition });
      const rule = await call('POST', `/entities/${id}/alert-rules`, {
        rule_name: `Rule ${index}`,
        primary_indicator: name,
        condition: 'expr > 5',
        alert_condition: `count_true(result) >= ${RULE.badMinutes}`,
        eval_window: RULE.totalMinutes,
        group_timeseries_notifications: false,
      });
      this.#rules[index] = String(rule['id']);
    }
  }

  async #client(): Promise<Call> {
    const { api_base_url, refresh_token, org } = this.#config!;
    const exchange = await post('POST', `${api_base_url}/oauth/access_token`, { refresh_token });
    const token = String(exchange['access_token']);
    return (method, resource, body) => post(method, `${api_base_url}/organizations/${org}${resource}`, body, token);
  }

  get ruleIds(): readonly string[] {
    return this.#rules;
  }

  /** Lets the minutes pass with disturbances, and the last of them in peace. */
  async live(database: Postgres): Promise<Record<string, number>> {
    await Promise.all([
      ...Array.from({ length: EVALUATORS }, (_, slot) => this.#spawn('evaluator', slot)),
      ...Array.from({ length: NOTIFIERS }, (_, slot) => this.#spawn('notifier', slot)),
    ]);
    const began = Date.now();
    this.#clock = { ...this.#clock, real: began };
    for (const { child } of this.#members) child.stdin?.write(`${began}\n`);
    const counts: Record<string, number> = { killed: 0, stopped: 0, cut: 0, down: 0 };
    const until = began + ((MINUTES + 1) * 60_000) / SPEED;
    while (Date.now() < until) {
      await this.#disturb(counts, database);
      await sleep(500 + random() * (SOAK ? 4000 : 2500));
    }
    return counts;
  }

  async #disturb(counts: Record<string, number>, database: Postgres): Promise<void> {
    const member = this.#members[Math.floor(random() * this.#members.length)]!;
    const which = random();
    if (which < 0.35) {
      counts['killed']! += 1;
      const gone = once(member.child, 'exit');
      member.child.kill('SIGKILL');
      await gone;
      this.#members.splice(this.#members.indexOf(member), 1);
      await this.#spawn(member.role, member.slot);
    } else if (which < 0.65) {
      counts['stopped']! += 1;
      member.child.kill('SIGSTOP');
      await sleep(1000 + random() * (SOAK ? 25_000 : 6000));
      member.child.kill('SIGCONT');
    } else if (which < 0.85) {
      counts['cut']! += 1;
      await this.#query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database() and random() < 0.5',
      );
    } else {
      counts['down']! += 1;
      await database.pause();
      await sleep(500 + random() * (SOAK ? 25_000 : 4000));
      await database.resume();
    }
  }

  async #query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.#options.databaseUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  async episodes(): Promise<Set<string>> {
    const rows = await this.#query<{ id: string; rule_id: string; fired: string; resolved: string | null }>(
      'select id, rule_id, fired_minute as fired, resolved_minute as resolved from alert_episodes',
    );
    const index = new Map(this.#rules.map((id, position) => [id, position]));
    return new Set(
      rows.map(
        ({ id, rule_id, fired, resolved }) =>
          `${index.get(rule_id)} ${id} ${Number(fired) - start} ${resolved === null ? Number.NaN : Number(resolved) - start}`,
      ),
    );
  }

  async #stop({ child }: Member): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, 'exit');
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await gone;
      clearTimeout(timer);
    }
    const position = this.#members.findIndex((each) => each.child === child);
    if (position >= 0) this.#members.splice(position, 1);
  }

  async end(): Promise<void> {
    await Promise.all([...this.#members].map((member) => this.#stop(member)));
  }
}

type Call = (method: string, resource: string, body?: unknown) => Promise<Record<string, unknown>>;

async function post(method: string, url: string, body: unknown, token?: string): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json', ...(token && { 'x-last9-api-token': `Bearer ${token}` }) };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}
