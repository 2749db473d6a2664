/** A service of its own for the benchmark: starts it, asks its API, and reaches the engine behind it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const root = path.dirname(path.dirname(import.meta.dirname));

interface Readiness {
  readonly logs?: {
    readonly state: string;
    readonly spool: { readonly records: number };
  };
}

export class BenchService {
  readonly dataDir: string;
  readonly #process: ChildProcess;
  readonly #listening: Promise<string>;
  #origin = '';
  #intake = '';
  #token = '';

  constructor(dataDir: string) {
    this.dataDir = dataDir;
    const serve = ['serve', '--data-dir', dataDir, '--port', '0'];
    this.#process = spawn(process.execPath, [path.join(root, 'packages/service/bin/obsiac-service.js'), ...serve], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const output = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream });
    this.#listening = new Promise((resolve, reject) => {
      output.on('line', (line) => {
        const origin = /"origin":"([^"]+)"/.exec(line)?.[1];
        if (origin !== undefined) resolve(origin);
      });
      output.on('close', () => reject(new Error('the service ended')));
    });
  }

  async ready(): Promise<void> {
    this.#origin = await this.#listening;
    while ((await this.#readiness())?.logs?.state !== 'ready') await sleep(100);
    this.#intake = (readJson(this.dataDir, 'intake.json') as { authorization: string }).authorization;
    const config = readJson(this.dataDir, 'config.json') as { api_config: { read: { refresh_token: string } } };
    const { refresh_token } = config.api_config.read;
    const answer = await this.#post('/oauth/access_token', { refresh_token });
    this.#token = (answer as { access_token: string }).access_token;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    if (this.#process.exitCode !== null || !this.#process.kill('SIGTERM')) return;
    await ended;
  }

  /** One search over HTTP: what it answered and the milliseconds until its last byte was read. */
  async search(widget: string, body: object): Promise<{ readonly answer: unknown; readonly ms: number }> {
    const started = performance.now();
    const answer = await this.#post(`/organizations/default/logs/${widget}`, body);
    return { answer, ms: performance.now() - started };
  }

  async #post(at: string, body: object): Promise<unknown> {
    const response = await fetch(`${this.#origin}/api/v4${at}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${at} ${JSON.stringify(body)}: ${await response.text()}`);
    return response.json();
  }

  /** Delivers a batch as Logpush does; waits as long as the intake asks. Resolves with the records accepted. */
  async deliver(file: string): Promise<number> {
    for (;;) {
      const headers = { authorization: this.#intake, 'content-encoding': 'gzip' };
      const response = await fetch(`${this.#origin}/cloudflare`, { method: 'POST', body: readFileSync(file), headers });
      if (response.status === 200) return ((await response.json()) as { accepted: number }).accepted;
      if (response.status !== 503) throw new Error(`intake: ${await response.text()}`);
      await response.arrayBuffer();
      await sleep(1000 * Number(response.headers.get('retry-after') ?? 1));
    }
  }

  /** Waits until everything that was accepted can be found. */
  async loaded(): Promise<void> {
    while (((await this.#readiness())?.logs?.spool.records ?? 1) > 0) await sleep(200);
  }

  /** Runs a statement in the engine itself, by the private socket that only the service's user can open. */
  engine(sql: string, settings: Readonly<Record<string, string>> = {}): Promise<string> {
    const socketPath = path.join(this.dataDir, 'logs', 'engine', 'engine.sock');
    return new Promise((resolve, reject) => {
      const asked = request({ socketPath, path: `/?${new URLSearchParams(settings)}`, method: 'POST' }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))));
      });
      asked.on('error', reject);
      asked.end(sql);
    });
  }

  /** Waits until nothing is merged and no part is rewritten any more. */
  async settled(): Promise<void> {
    const busy =
      'SELECT (SELECT count() FROM system.merges) + (SELECT count() FROM system.mutations WHERE NOT is_done)';
    while ((await this.engine(`${busy} FORMAT TabSeparated`)).trim() !== '0') await sleep(1000);
  }

  /** All files that hold records. */
  files(): string[] {
    const store = path.join(this.dataDir, 'logs', 'engine', 'store');
    return readdirSync(store, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name));
  }

  async #readiness(): Promise<Readiness | undefined> {
    return fetch(`${this.#origin}/readyz`)
      .then((response) => response.json() as Promise<Readiness>)
      .catch(() => undefined);
  }
}

function readJson(folder: string, name: string): unknown {
  return JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
}
