/** Runs the changes of one wave: recorded in windows before they are sent, a bounded number under way. */
import type { Change } from '@obsiac/model';

/** Operations recorded by one write of the state. Large enough that ten thousand take few writes, small enough to be told apart after a crash. */
const WINDOW = 256;

export interface WaveHooks {
  readonly concurrency: number;
  /** Why this change may not be begun any more; it is then passed to `skip`. */
  readonly blocked: (change: Change) => string | undefined;
  /** Resolves when the intents are on disk. A rejection ends the wave: nothing that is not recorded is sent. */
  readonly record: (changes: readonly Change[]) => Promise<void>;
  readonly run: (change: Change) => Promise<void>;
  /** `recorded`: the intent is in the state and must come out of it again. */
  readonly skip: (change: Change, reason: string, recorded: boolean) => void;
  readonly recordFailed: (error: unknown) => string;
}

/** Resolves when every change was run or skipped. */
export async function runWave(changes: readonly Change[], hooks: WaveHooks): Promise<void> {
  let next = 0;
  const ready: Change[] = [];
  let recording: Promise<void> | null = null;
  const running = new Set<Promise<void>>();

  const takeWindow = (): Change[] => {
    const window = changes.slice(next, next + WINDOW);
    next += window.length;
    return window.filter((change) => {
      const reason = hooks.blocked(change);
      if (reason !== undefined) hooks.skip(change, reason, false);
      return reason === undefined;
    });
  };

  /** The next window is recorded while the one before is being sent. */
  const recordAhead = (): void => {
    if (recording !== null || ready.length >= hooks.concurrency * 2) return;
    let allowed: Change[] = [];
    while (allowed.length === 0 && next < changes.length) allowed = takeWindow();
    if (allowed.length === 0) return;
    recording = hooks
      .record(allowed)
      .then(
        () => void ready.push(...allowed),
        (error: unknown) => {
          const reason = hooks.recordFailed(error);
          for (const change of allowed) hooks.skip(change, reason, true);
        },
      )
      .finally(() => {
        recording = null;
      });
  };

  const startSome = (): void => {
    while (running.size < hooks.concurrency && ready.length > 0) {
      const change = ready.shift()!;
      const reason = hooks.blocked(change);
      if (reason !== undefined) {
        hooks.skip(change, reason, true);
        continue;
      }
      const work: Promise<void> = hooks.run(change).finally(() => running.delete(work));
      running.add(work);
    }
  };

  for (;;) {
    recordAhead();
    startSome();
    const waiting: Promise<void>[] = [...running];
    if (recording !== null) waiting.push(recording);
    if (waiting.length > 0) await Promise.race(waiting);
    else if (next >= changes.length && ready.length === 0) return;
  }
}
