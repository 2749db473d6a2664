/** Keeps the embedded engine's child process running: starts it, restarts it when it dies, stops it, and says how it is. */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unsupportedPlatform } from './platform.ts';
import type { EngineFailureCode, EngineMessage, EngineProcessOptions } from './protocol.ts';

/** `failed` is final: the reason will not go away by trying again. Everything else that goes wrong is `restarting`. */
export type EngineState =
  | { readonly phase: 'starting' }
  | { readonly phase: 'ready'; readonly version: string; readonly pid: number }
  | {
      readonly phase: 'restarting';
      readonly code: EngineFailureCode;
      readonly reason: string;
      readonly restarts: number;
    }
  | { readonly phase: 'failed'; readonly code: EngineFailureCode; readonly reason: string }
  | { readonly phase: 'stopped' };

/** The part of a logger that the supervisor uses; pino fits. */
export interface SupervisorLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface EngineSupervisorOptions {
  /** Held by the engine alone; made if it is not there. */
  readonly dataDirectory: string;
  /** Backups are written below it and restored from below it. */
  readonly backupDirectory: string;
  /** Bytes of memory for the engine. */
  readonly memoryLimit: number;
  readonly log: SupervisorLog;
  readonly readers?: number;
  readonly writers?: number;
  readonly maxWaiting?: number;
  /** Called at each change of state. */
  readonly onState?: (state: EngineState) => void;
}

export interface EngineSupervisor {
  readonly socketPath: string;
  state(): EngineState;
  /** Starts the engine and comes back at once; the state tells when it is ready. */
  start(): void;
  /** Resolves when the engine is ready. Rejects when it has failed for good, is stopped, or the signal aborts. */
  whenReady(signal?: AbortSignal): Promise<void>;
  /** Kills what runs, closes the data directory and ends the process, by force if it takes longer than 10 seconds. */
  stop(): Promise<void>;
}

const FIRST_BACKOFF_MS = 200;
const LONGEST_BACKOFF_MS = 15_000;
const STEADY_AFTER_MS = 60_000;
const PING_EVERY_MS = 10_000;
const PING_TIMEOUT_MS = 60_000;
const STOP_WITHIN_MS = 10_000;
/** A unix socket's path is at most 107 bytes on Linux and 103 on macOS. */
const MAX_SOCKET_PATH = 100;

export function createEngineSupervisor(options: EngineSupervisorOptions): EngineSupervisor {
  return new Supervisor(options);
}

class Supervisor implements EngineSupervisor {
  readonly socketPath: string;
  readonly #options: EngineSupervisorOptions;
  readonly #ownSocketDirectory: string | undefined;
  #state: EngineState = { phase: 'stopped' };
  #child: ChildProcess | undefined;
  #wanted = false;
  #restarts = 0;
  #lastFailure: { code: EngineFailureCode; reason: string } | undefined;
  #lock: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #listeners = new Set<(state: EngineState) => void>();

  constructor(options: EngineSupervisorOptions) {
    this.#options = options;
    const inside = join(options.dataDirectory, 'engine.sock');
    if (Buffer.byteLength(inside) > MAX_SOCKET_PATH) {
      this.#ownSocketDirectory = mkdtempSync(join(tmpdir(), 'obsiac-'));
      this.socketPath = join(this.#ownSocketDirectory, 'engine.sock');
    } else {
      this.socketPath = inside;
    }
  }

  state(): EngineState {
    return this.#state;
  }

  start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    const unsupported = unsupportedPlatform();
    if (unsupported !== undefined) {
      this.#enter({ phase: 'failed', code: 'unsupported_platform', reason: unsupported });
      return;
    }
    this.#enter({ phase: 'starting' });
    this.#launch();
  }

  whenReady(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (state: EngineState) => {
        if (state.phase === 'ready') finish(resolve);
        else if (state.phase === 'failed') finish(() => reject(new Error(state.reason)));
        else if (state.phase === 'stopped') finish(() => reject(new Error('The log engine is stopped')));
      };
      const aborted = () => finish(() => reject(signal?.reason as Error));
      const finish = (outcome: () => void) => {
        this.#listeners.delete(settle);
        signal?.removeEventListener('abort', aborted);
        outcome();
      };
      this.#listeners.add(settle);
      signal?.addEventListener('abort', aborted, { once: true });
      settle(this.#state);
    });
  }

  async stop(): Promise<void> {
    this.#wanted = false;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      if (child.connected) child.send({ type: 'stop' });
      else child.kill('SIGKILL');
      await ended;
      clearTimeout(force);
    }
    if (this.#ownSocketDirectory !== undefined) rmSync(this.#ownSocketDirectory, { recursive: true, force: true });
    this.#enter({ phase: 'stopped' });
  }

  #launch(): void {
    const { dataDirectory, backupDirectory, memoryLimit } = this.#options;
    mkdirSync(dirname(dataDirectory), { recursive: true });
    const childOptions: EngineProcessOptions = {
      dataDirectory,
      socketPath: this.socketPath,
      backupDirectory,
      memoryLimit,
      readers: this.#options.readers ?? 6,
      writers: this.#options.writers ?? 2,
      maxWaiting: this.#options.maxWaiting ?? 200,
    };
    const entry = fileURLToPath(new URL('./engine-process.ts', import.meta.url));
    const child = fork(entry, [JSON.stringify(childOptions)], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: [],
    });
    this.#child = child;
    this.#lastFailure = undefined;
    this.#lock = undefined;
    for (const output of [child.stdout, child.stderr]) {
      output?.on('data', (chunk: Buffer) => this.#heardOutput(String(chunk)));
    }
    child.on('message', (message) => this.#heard(child, message as EngineMessage));
    child.on('error', (error) => {
      this.#lastFailure = { code: 'engine_failed', reason: error.message };
    });
    // 'close' and not 'exit': by then all that the engine printed has been read.
    child.once('close', (code, signal) => this.#exited(child, code, signal));
  }

  /** The binding names a held data directory only in what it prints. */
  #heardOutput(output: string): void {
    this.#options.log.warn({ output: output.trim() }, 'log engine output');
    if (/Cannot lock file/.test(output)) {
      this.#lock = 'Another process uses the data directory of the log engine';
    }
  }

  #heard(child: ChildProcess, message: EngineMessage): void {
    if (message.type === 'failed') {
      this.#lastFailure = message;
      return;
    }
    if (message.repaired.length > 0) {
      this.#options.log.warn(
        { files: message.repaired },
        'log engine: tables that a crash left unfinished were mended',
      );
    }
    this.#options.log.info({ version: message.version, pid: child.pid }, 'log engine ready');
    this.#enter({ phase: 'ready', version: message.version, pid: child.pid ?? 0 });
    const steady = setTimeout(() => {
      this.#restarts = 0;
    }, STEADY_AFTER_MS);
    steady.unref();
    child.once('exit', () => clearTimeout(steady));
    this.#watch(child);
  }

  /** Asks a ready child now and then; one that does not answer for a minute is killed, and its exit restarts it. */
  #watch(child: ChildProcess): void {
    const next = setTimeout(() => {
      if (this.#child !== child || this.#state.phase !== 'ready') return;
      const ping = request({ socketPath: this.socketPath, path: '/ping', timeout: PING_TIMEOUT_MS });
      ping.on('response', (response) => response.resume());
      ping.on('timeout', () => child.kill('SIGKILL'));
      ping.on('error', () => undefined);
      ping.on('close', () => this.#watch(child));
      ping.end();
    }, PING_EVERY_MS);
    next.unref();
  }

  #exited(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#child === child) this.#child = undefined;
    if (!this.#wanted) return;
    const failure = this.#failureOf(code, signal);
    if (failure.code === 'unsupported_platform') {
      this.#enter({ phase: 'failed', ...failure });
      return;
    }
    this.#restarts += 1;
    const { code: failureCode, reason } = failure;
    this.#options.log.warn(
      { code: failureCode, reason, restarts: this.#restarts },
      'log engine ended, starting it again',
    );
    this.#enter({ phase: 'restarting', code: failureCode, reason, restarts: this.#restarts });
    const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** (this.#restarts - 1), LONGEST_BACKOFF_MS);
    this.#timer = setTimeout(() => this.#launch(), backoff);
  }

  #failureOf(code: number | null, signal: NodeJS.Signals | null): { code: EngineFailureCode; reason: string } {
    if (this.#lock !== undefined) return { code: 'data_directory_locked', reason: this.#lock };
    if (this.#lastFailure !== undefined) return this.#lastFailure;
    return { code: 'engine_failed', reason: `The log engine's process ended (${signal ?? `exit code ${code}`})` };
  }

  #enter(state: EngineState): void {
    this.#state = state;
    this.#options.onState?.(state);
    for (const listener of [...this.#listeners]) listener(state);
  }
}
