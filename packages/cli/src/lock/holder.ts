/** Who holds a lock: how it is written down, and whether that process still lives. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { z } from 'zod';

const text = z.string().max(1024);

const lockInfo = z.object({
  id: text.min(1),
  who: text,
  host: text,
  pid: z.int().positive(),
  operation: text,
  created: text,
  heartbeat: text,
  started: text.default(''),
  namespace: text.default(''),
});

/** What `<state>.lock.info` says about its holder. Times are RFC 3339, UTC. */
export interface LockInfo {
  readonly id: string;
  /** User name. */
  readonly who: string;
  readonly host: string;
  readonly pid: number;
  /** The command that holds it, for example `apply`. */
  readonly operation: string;
  readonly created: string;
  readonly heartbeat: string;
  /** When the holder's process started, as its system counts, and its process namespace; empty where the system does not say. */
  readonly started: string;
  readonly namespace: string;
}

/** What tells the living from the dead. All of it can be given by a test. */
export interface Vitals {
  readonly now: () => number;
  readonly host: string;
  readonly namespace: string;
  /** Start time of a process of this machine as text; null: there is none; empty: the system does not say. */
  readonly startOf: (pid: number) => string | null;
  /** A holder without a sign of life for this many milliseconds is silent, wherever it runs. */
  readonly expiryMs: number;
  /** A silent one is watched for this long before it counts as dead, since clocks of two machines may differ. */
  readonly watchMs: number;
}

/** Beats come every few seconds; twenty missed ones are no hiccup. */
const EXPIRY_MS = 60_000;
export const HEARTBEAT_MS = 3000;
const WATCH_MS = 8000;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Field 22 of /proc/PID/stat, counted after the name in brackets, which may hold anything (proc(5)). Null: field 3 says
 * that the process has ended, and only its parent has not asked for its exit code yet, as happens in containers.
 */
function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? '');
  } catch {
    return '';
  }
}

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

export function systemVitals(): Vitals {
  return {
    now: Date.now,
    host: hostname(),
    namespace: processNamespace(),
    startOf: (pid) => (isAlive(pid) ? startTime(pid) : null),
    expiryMs: EXPIRY_MS,
    watchMs: WATCH_MS,
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number without a name.
    return `uid ${process.getuid?.() ?? '?'}`;
  }
}

/** A new holder: this process. */
export function ownInfo(id: string, operation: string, vitals: Vitals): LockInfo {
  const now = new Date(vitals.now()).toISOString();
  return {
    id,
    who: userName(),
    host: vitals.host,
    pid: process.pid,
    operation,
    created: now,
    heartbeat: now,
    started: vitals.startOf(process.pid) ?? '',
    namespace: vitals.namespace,
  };
}

/** One length for every beat of one holder, so that a beat can be written over the one before. */
export function formatInfo(info: LockInfo): string {
  return `${JSON.stringify(info, null, 2)}\n`;
}

/** Null: the text is no holder (yet): the file is written after it is made. */
export function parseInfo(content: string): LockInfo | null {
  try {
    return lockInfo.parse(JSON.parse(content));
  } catch {
    return null;
  }
}

/** `gone`: its process is not on this machine any more. `silent`: it has given no sign of life for too long. */
export function lifeOf(holder: LockInfo, vitals: Vitals): 'alive' | 'gone' | 'silent' {
  if (holder.host === vitals.host && holder.namespace === vitals.namespace) {
    const started = vitals.startOf(holder.pid);
    if (started === null) return 'gone';
    if (started !== '' && holder.started !== '' && started !== holder.started) return 'gone';
  }
  const beat = Date.parse(holder.heartbeat);
  return Number.isNaN(beat) || vitals.now() - beat > vitals.expiryMs ? 'silent' : 'alive';
}
