/** Starts a real PostgreSQL for a test, from the machine's own package, in a folder of its own. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where Debian puts each major version. */
const DEBIAN_VERSIONS = '/usr/lib/postgresql';
const OLDEST = 15;

export type PostgresAvailability = { readonly bin: string } | { readonly missing: string };

/** The folder of PostgreSQL's programs, or the reason why tests with it are skipped. With `CI=true` it throws instead. */
export function postgresBinaries(): PostgresAvailability {
  const versions = existsSync(DEBIAN_VERSIONS) ? readdirSync(DEBIAN_VERSIONS) : [];
  const [newest] = versions
    .filter((version) => Number(version) >= OLDEST && existsSync(join(DEBIAN_VERSIONS, version, 'bin/initdb')))
    .sort((a, b) => Number(b) - Number(a));
  if (newest) return { bin: join(DEBIAN_VERSIONS, newest, 'bin') };
  const missing = `PostgreSQL ${OLDEST} or newer is not installed (Debian package postgresql)`;
  if (process.env['CI'] === 'true') throw new Error(missing);
  return { missing };
}

export interface Postgres {
  /** Makes an empty database. @returns its address for `DATABASE_URL` */
  createDatabase(): Promise<string>;
  /** Stops answering and drops every connection, as a server that is down. */
  pause(): Promise<void>;
  /** Answers again, with the data it had. */
  resume(): Promise<void>;
  /** Ends the server and removes its data. */
  stop(): Promise<void>;
}

interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Starts a server on a socket in a temporary folder, and waits until it takes connections. */
export async function startPostgres(bin: string): Promise<Postgres> {
  const home = await mkdtemp(join(tmpdir(), 'postgres-'));
  const user = serverUser();
  if (user) chownSync(home, user.uid, user.gid);
  const as = { ...user, cwd: home, env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  const data = join(home, 'data');
  let server: ChildProcess | undefined;
  let databases = 0;
  const stop = async () => {
    await end(server);
    await rm(home, { recursive: true, force: true });
  };
  try {
    await run(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], as);
    const start = async () => {
      const flags = ['-D', data, '-k', home, '-c', 'listen_addresses=', '-c', 'fsync=off', '-c', 'max_connections=50'];
      server = spawn(join(bin, 'postgres'), flags, { ...as, stdio: ['ignore', 'ignore', 'pipe'] });
      await ready(server);
    };
    await start();
    return {
      createDatabase: async () => {
        databases += 1;
        const name = `test_${databases}`;
        await run(join(bin, 'psql'), ['-h', home, '-U', 'postgres', '-qc', `create database ${name}`], as);
        return `postgres://postgres@localhost/${name}?host=${encodeURIComponent(home)}`;
      },
      pause: () => end(server),
      resume: start,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** PostgreSQL refuses to run as root; Debian's package makes a user for it. */
function serverUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('postgres:'));
  if (!line) throw new Error('PostgreSQL does not run as root, and this machine has no user "postgres"');
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

function ready(server: ChildProcess): Promise<void> {
  const tail: string[] = [];
  return new Promise((resolve, reject) => {
    createInterface({ input: server.stderr! }).on('line', (line) => {
      tail.push(line);
      if (tail.length > 20) tail.shift();
      if (line.includes('database system is ready to accept connections')) resolve();
    });
    const failed = (why: string) => reject(new Error(`PostgreSQL did not start: ${why}\n${tail.join('\n')}`));
    server.once('error', (error) => failed(error.message));
    server.once('exit', (code, signal) => failed(`it ended with ${code ?? signal}`));
  });
}

/** SIGINT is PostgreSQL's fast shutdown: connections are dropped, the data is left whole. */
async function end(server: ChildProcess | undefined): Promise<void> {
  if (!server || server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  server.kill('SIGINT');
  const timer = setTimeout(() => server.kill('SIGQUIT'), 10_000);
  await gone;
  clearTimeout(timer);
}
