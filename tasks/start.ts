/** `npm start`: the service on its embedded store, and the examples planned and applied to it, until Ctrl-C. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
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

/** Runs `obsiac` as a user would and shows the command line; resolves with its exit code. */
function obsiac(args: readonly string[]): Promise<number> {
  const shown = args.map((argument) => path.relative(process.cwd(), argument) || '.');
  show(
    `\n${bold(`$ npx obsiac ${args.map((argument, index) => (argument.startsWith('/') ? shown[index] : argument)).join(' ')}`)}`,
  );
  const child = spawn(process.execPath, [path.join(root, 'packages/cli/bin/obsiac.js'), ...args], { stdio: 'inherit' });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
}

function startService(options: Options, logFile: string): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  return spawn(
    process.execPath,
    [
      path.join(root, 'packages/service/bin/obsiac-service.js'),
      'serve',
      ...['--data-dir', options.dataDir, '--port', options.port, '--host', options.host],
    ],
    { stdio: ['ignore', log, 'pipe'] },
  );
}

/** Waits until the service has written where it listens and answers there; undefined when it ended instead. */
async function waitUntilReady(service: ChildProcess, configFile: string): Promise<string | undefined> {
  while (service.exitCode === null && service.signalCode === null) {
    const origin = readOrigin(configFile);
    const ready = origin ? await fetch(`${origin}/readyz`).catch(() => undefined) : undefined;
    if (ready?.ok) return origin;
    await sleep(100);
  }
  return undefined;
}

function readOrigin(configFile: string): string | undefined {
  try {
    const config = JSON.parse(readFileSync(configFile, 'utf8')) as {
      api_config: { read: { api_base_url: string } };
    };
    return new URL(config.api_config.read.api_base_url).origin;
  } catch {
    return undefined;
  }
}

async function demonstrate(configFile: string): Promise<boolean> {
  const common = ['-mf', path.join(root, 'examples'), '-c', configFile];
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
  const config = path.relative(process.cwd(), configFile);
  show(`
${bold('Obsiac is running')} at ${origin}
  API              ${origin}/api/v4/organizations/default      description: ${origin}/api/v4/openapi.json
  metrics          ${origin}/metrics
  data             ${path.relative(process.cwd(), options.dataDir) || '.'}     log: ${path.relative(process.cwd(), logFile)}

${bold('Go on')}
  change a rule in examples/, then   npx obsiac -mf examples -c ${config} plan
  your own model                     npx obsiac -mf model.yaml -c ${config} apply
  what has been applied              npx obsiac -mf examples -c ${config} state list
  help                               npx obsiac --help

Ctrl-C stops the service; the data stays and the next start goes on from it.`);
}

async function main(): Promise<void> {
  const options = readOptions();
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const logFile = path.join(options.dataDir, 'service.log');
  const configFile = path.join(options.dataDir, 'config.json');
  const service = startService(options, logFile);
  let complaint = '';
  service.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-4000);
  });
  const ended = new Promise<number>((resolve) => service.on('exit', (code) => resolve(code ?? 1)));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => service.kill('SIGTERM'));

  const origin = await waitUntilReady(service, configFile);
  if (!origin) {
    console.error(complaint.trim() || `The service ended before it was ready; its log is ${logFile}.`);
    process.exit(1);
  }
  await prepareExampleService(configFile);
  const shown = await demonstrate(configFile);
  showWhereToLook(origin, options, configFile, logFile);
  process.exitCode = await ended;
  if (!shown) process.exitCode = 1;
}

await main();
