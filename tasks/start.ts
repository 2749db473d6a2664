/** `npm start`: the service on its embedded store, and the examples planned and applied to it, until Ctrl-C. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { CheckoutMetrics, demonstrateAlerts, type LocalReceivers, startLocalReceivers } from './example-alerts.ts';
import { demonstrateLogs } from './example-logs.ts';
import { prepareExampleService } from './example-service.ts';

const root = path.dirname(import.meta.dirname);
const show = (line = '') => console.log(line);
const bold = (text: string) => (process.stdout.isTTY && !process.env['NO_COLOR'] ? `\u001b[1m${text}\u001b[22m` : text);

interface Options {
  readonly port: string;
  readonly host: string;
  readonly dataDir: string;
}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string', default: '7780' },
        host: { type: 'string', default: '127.0.0.1' },
        'data-dir': { type: 'string', default: path.join(root, '.obsiac') },
      },
    });
    return { port: values.port, host: values.host, dataDir: path.resolve(values['data-dir']) };
  } catch (error) {
    console.error(`${(error as Error).message}\nUsage: npm start -- [--port N] [--host H] [--data-dir DIR]`);
    process.exit(3);
  }
}

/** A word of a command line as a shell takes it. */
const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`);

/** Runs `obsiac` as a user would and shows the command line; resolves with its exit code. After `limitMs` it is interrupted. */
function obsiac(args: readonly string[], limitMs?: number): Promise<number> {
  show(`\n${bold(`$ npx obsiac ${args.map(quoted).join(' ')}`)}`);
  const child = spawn(process.execPath, [path.join(root, 'packages/cli/bin/obsiac.js'), ...args], { stdio: 'inherit' });
  const timer = limitMs === undefined ? undefined : setTimeout(() => child.kill('SIGTERM'), limitMs);
  return new Promise((resolve) =>
    child.on('exit', (code) => {
      clearTimeout(timer);
      resolve(code ?? 1);
    }),
  );
}

interface Service {
  readonly process: ChildProcess;
  /** Where it listens, by its own word; undefined when it ended instead. */
  readonly origin: Promise<string | undefined>;
  readonly ended: Promise<number>;
  /** What it said on standard error. */
  complaint(): string;
}

function startService(options: Options, logFile: string, receivers: LocalReceivers): Service {
  const log = createWriteStream(logFile, { flags: 'a', mode: 0o600 });
  const where = ['--data-dir', options.dataDir, '--port', options.port, '--host', options.host];
  // The examples' channels lead to a server in this process, and alerts resolve while one looks on: the service's own default is
  // ten minutes of recovery.
  const local = ['--pagerduty-url', `${receivers.url}/pagerduty`, '--opsgenie-url', `${receivers.url}/opsgenie`];
  const serve = ['serve', ...where, '--recover-minutes', '1', ...local];
  const child = spawn(process.execPath, [path.join(root, 'packages/service/bin/obsiac-service.js'), ...serve], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: Ctrl-C reaches this process alone, which then stops the service once.
    detached: true,
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-4000);
  });
  const ended = new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
  const listening = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      log.write(`${line}\n`);
      const origin = originOf(line);
      if (origin) resolve(origin);
    });
  });
  const origin = Promise.race([listening, ended.then(() => undefined)]);
  return { process: child, origin, ended, complaint: () => complaint.trim() };
}

/** The address in the log line that says the service listens. */
function originOf(line: string): string | undefined {
  try {
    const entry = JSON.parse(line) as { msg?: string; origin?: string };
    return entry.msg?.startsWith('listening') ? entry.origin : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A state belongs to one API address. After a start with another --port the service is the same and its address is not, so the
 * state is set aside and the plan below takes the objects over again; nothing is created twice.
 */
function setAsideForeignState(configFile: string): void {
  const { api_config, state_lock_file_path } = JSON.parse(readFileSync(configFile, 'utf8')) as {
    api_config: { read: { api_base_url: string } };
    state_lock_file_path: string;
  };
  const stateFile = path.resolve(path.dirname(configFile), state_lock_file_path);
  if (!existsSync(stateFile)) return;
  const before = /"api_base_url":\s*"([^"]*)"/.exec(readFileSync(stateFile, 'utf8'))?.[1];
  if (before === undefined || before === api_config.read.api_base_url) return;
  renameSync(stateFile, `${stateFile}.${new URL(before).port || 'before'}`);
  show(`The service was at ${before} before. Its state is set aside; the plan adopts what is there.`);
}

async function demonstrate(configFile: string): Promise<boolean> {
  const common = ['-mf', 'examples', '-c', path.relative(root, configFile)];
  const steps = [
    [...common, 'plan'],
    [...common, 'apply', '-y'],
    [...common, 'plan'],
  ];
  for (const step of steps) {
    const code = await obsiac(step);
    if (code !== 0) {
      show(`\nThe command ended with exit code ${code}; the service goes on running.`);
      return false;
    }
  }
  return true;
}

function showWhereToLook(origin: string, options: Options, configFile: string, logFile: string): void {
  const config = path.relative(root, configFile);
  show(`
${bold('Obsiac is running')} at ${origin}
  API              ${origin}/api/v4/organizations/default      description: ${origin}/api/v4/openapi.json
  metrics          ${origin}/metrics
  data             ${path.relative(root, options.dataDir) || '.'}     log: ${path.relative(root, logFile)}

${bold('Go on')}
  change a rule in examples/, then   npx obsiac -mf examples -c ${config} plan
  your own model                     mkdir mine && cp ${config} mine/     (its own state, beside its config)
                                     npx obsiac -mf mine/alerts.yaml -c mine/config.json plan
  what has been applied              npx obsiac -mf examples -c ${config} state list
  search the logs                    npx obsiac -c ${config} logs query 'EdgeResponseStatus:>=500' --from 2h
  help                               npx obsiac --help

Ctrl-C stops the service; the data stays and the next start goes on from it.`);
}

/** One Ctrl-C may arrive twice, from the terminal and through npm; only one that comes later is a second wish to stop. */
function stopOnSignal(service: ChildProcess): void {
  let last = Number.NEGATIVE_INFINITY;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      if (now - last > 1000) service.kill('SIGTERM');
      last = now;
    });
  }
}

/** Undefined, with a line that says why, when the service keeps no metrics of its own. */
async function beginMetrics(origin: string, dataDir: string): Promise<CheckoutMetrics | undefined> {
  try {
    const metrics = new CheckoutMetrics(origin, dataDir);
    await metrics.begin();
    return metrics;
  } catch (error) {
    show(`\nNo alert is shown: ${(error as Error).message}`);
    return undefined;
  }
}

async function main(): Promise<void> {
  process.chdir(root);
  const options = readOptions();
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const logFile = path.join(options.dataDir, 'service.log');
  const configFile = path.join(options.dataDir, 'config.json');
  const receivers = await startLocalReceivers(show);
  const service = startService(options, logFile, receivers);
  stopOnSignal(service.process);

  const origin = await service.origin;
  if (!origin) {
    console.error(service.complaint() || `The service ended before it was ready; its log is ${logFile}.`);
    process.exit(1);
  }
  await prepareExampleService(configFile, `${receivers.url}/slack`);
  setAsideForeignState(configFile);
  const metrics = await beginMetrics(origin, options.dataDir);
  const shown = await demonstrate(configFile);
  if (shown) {
    const config = path.relative(root, configFile);
    if (metrics) await demonstrateAlerts({ config, receivers, metrics, obsiac, show });
    await demonstrateLogs({ origin, dataDir: options.dataDir, config, obsiac, show });
  }
  showWhereToLook(origin, options, configFile, logFile);
  const code = await service.ended;
  await metrics?.end();
  receivers.close();
  process.exitCode = shown ? code : 1;
}

await main();
