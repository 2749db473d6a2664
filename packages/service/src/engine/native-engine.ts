/** Opens the embedded engine's sessions and stops statements that run on them. */
import type { Session } from 'chdb';
import type { EngineProcessOptions } from './protocol.ts';
import { SessionPool } from './session-pool.ts';
import { quoteString } from './sql-text.ts';

/**
 * Of the memory the process may have, what the engine counts as its own. The rest is what it does not count: its program, which is some 250 MiB in
 * memory, and freed blocks that its allocator keeps.
 */
const COUNTED_SHARE = 0.7;
const MARK_CACHE_SHARE = 1 / 8;
/** Merges of one table at a time; the engine's own default of 16 is meant for machines with many cores. */
const MERGE_THREADS = 3;
/** Bytes that have to be free for each thread of a statement that reads. What it may take is limited besides. */
const FREE_MEMORY_A_READER = 64 * 1024 * 1024;

/**
 * Settings of statements that read and do not set their own. The engine gives a statement a thread for each GiB that is free, which here
 * would be one whatever the processors: searches took twice as long on two.
 */
export const READ_SETTINGS: ReadonlyMap<string, string> = new Map([
  ['max_threads_min_free_memory_per_thread', String(FREE_MEMORY_A_READER)],
]);

export interface NativeEngine {
  readonly readers: SessionPool;
  readonly writers: SessionPool;
  /** For KILL and the readiness question; never lent for anything that lasts. */
  readonly control: SessionPool;
  readonly version: string;
  /** Waits for what runs, then closes the data directory. Nothing may be started after it. */
  close(): Promise<void>;
}

/** Opens the data directory. Throws when another process holds it. The directory must have been prepared. */
export async function openEngine(options: EngineProcessOptions): Promise<NativeEngine> {
  const args = [
    `--max_server_memory_usage=${Math.floor(options.memoryLimit * COUNTED_SHARE)}`,
    `--mark_cache_size=${Math.floor(options.memoryLimit * MARK_CACHE_SHARE)}`,
    `--background_pool_size=${MERGE_THREADS}`,
    `--backups.allowed_path=${options.backupDirectory}`,
  ];
  // Loaded here and not above: on a platform without the engine the import itself fails, and that has to be told.
  const { Session, drainPending } = await import('chdb');
  const sessions: Session[] = [];
  const open = () => {
    const session = new Session(options.dataDirectory, { connectionArgs: args });
    sessions.push(session);
    return session;
  };
  const control = open();
  const version = (await control.queryAsync('SELECT version()', { format: 'TabSeparated' })).text().trim();
  const many = (count: number) => Array.from({ length: count }, open);
  return {
    readers: new SessionPool(many(options.readers), options.maxWaiting),
    writers: new SessionPool(many(options.writers), options.maxWaiting),
    control: new SessionPool([control], options.maxWaiting),
    version,
    close: async () => {
      await drainPending();
      for (const session of sessions) session.close();
    },
  };
}

/** The comment that starts each statement's text, by which it can be found among those that run. */
export function statementMark(id: string): string {
  return `/*obsiac:${id}*/ `;
}

const KILL_AGAIN_AFTER_MS = 200;

/**
 * Kills the statement with this mark, again and again until `ended` settles, since a KILL that comes before the statement is
 * registered finds nothing. ASYNC: a KILL that waits for its victim can hang on the session that the victim uses.
 */
export async function killStatement(engine: NativeEngine, id: string, ended: Promise<unknown>): Promise<void> {
  let settled = false;
  const watch = ended.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  const mark = quoteString(statementMark(id));
  while (!settled) {
    await runControl(engine, `KILL QUERY WHERE startsWith(query, ${mark}) ASYNC`).catch(() => undefined);
    await Promise.race([watch, new Promise((resolve) => setTimeout(resolve, KILL_AGAIN_AFTER_MS))]);
  }
}

/** Kills everything that runs, so that the process can end at once. */
export async function killAll(engine: NativeEngine): Promise<void> {
  await runControl(engine, "KILL QUERY WHERE query NOT LIKE 'KILL%' ASYNC").catch(() => undefined);
}

export async function runControl(engine: NativeEngine, sql: string): Promise<string> {
  const session = await engine.control.acquire(AbortSignal.timeout(30_000));
  try {
    return (await session.queryAsync(sql, { format: 'TabSeparated' })).text();
  } finally {
    engine.control.release(session);
  }
}
