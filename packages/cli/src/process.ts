/** The process around a run: signals, faults of our own, and the exit code. */
import { EXIT } from './exit-code.ts';
import { main } from './main.ts';

/**
 * A launcher and a terminal may both deliver one Ctrl-C: the terminal to the whole group, the launcher to its child.
 * Two signals nearer than this (milliseconds) are one.
 */
const SAME_SIGNAL_MS = 200;

/** How long the second interrupt waits for the last write of the state before the process ends anyway. */
const LAST_WRITE_MS = 2000;

interface Interrupts {
  readonly cancelled: AbortSignal;
  readonly aborted: AbortSignal;
}

/** First interrupt: end gracefully. Second: drop what is under way. Later ones: end now. */
function watchSignals(): Interrupts {
  const cancelled = new AbortController();
  const aborted = new AbortController();
  let last = Number.NEGATIVE_INFINITY;
  const onSignal = () => {
    const now = performance.now();
    if (now - last < SAME_SIGNAL_MS) {
      return;
    }
    last = now;
    if (!cancelled.signal.aborted) {
      if (readsOnly(process.argv)) warn('\n');
      else warn('\nInterrupted: finishing what is under way and saving the state. Interrupt again to stop at once.\n');
      cancelled.abort();
    } else if (!aborted.signal.aborted) {
      warn('\nWarning: stopping at once. Requests under way may still have their effect; the next apply finds out.\n');
      aborted.abort();
      setTimeout(() => process.exit(EXIT.cancelled), LAST_WRITE_MS).unref();
    } else {
      process.exit(EXIT.cancelled);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, onSignal);
  }
  return { cancelled: cancelled.signal, aborted: aborted.signal };
}

/** Commands that have no state to save and end at once. */
function readsOnly(argv: readonly string[]): boolean {
  return argv.includes('logs') || argv.includes('logpush');
}

function warn(text: string): void {
  process.stderr.write(text);
}

/** Something threw where nobody waits for it: a bug, told like every other one. */
function dieOfFault(fault: unknown): void {
  const shown = process.env['OBSIAC_DEBUG'] === '1' && fault instanceof Error ? `\n${fault.stack}\n` : '';
  warn(`\nError: this is a bug in obsiac: ${String(fault)}\n${shown}`);
  process.exit(EXIT.internal);
}

/** Runs the process's command line and ends the process with its exit code. */
export async function run(): Promise<void> {
  process.on('uncaughtException', dieOfFault);
  const interrupts = watchSignals();
  const code = await main({
    argv: process.argv.slice(2),
    cwd: process.cwd(),
    env: process.env,
    // Opened only when asked for: it costs time, and a closed one may fail.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    ...interrupts,
  });
  process.exit(code);
}
