import type { Change } from '@obsiac/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runWave, type WaveHooks } from './wave.ts';

const changes = (count: number): Change[] =>
  Array.from({ length: count }, (_, index) => ({ kind: 'entity', action: 'create', address: `e${index}` }) as Change);

interface Seen {
  readonly recorded: Set<string>;
  readonly ran: string[];
  readonly skipped: Map<string, { reason: string; recorded: boolean }>;
  writes: number;
  running: number;
  mostRunning: number;
  problems: string[];
}

/** Hooks that watch the promises of a wave; `turns`: how many turns of the event loop each step takes. */
function watch(turns: (what: string) => number, more: Partial<WaveHooks> = {}): { seen: Seen; hooks: WaveHooks } {
  const seen: Seen = {
    recorded: new Set(),
    ran: [],
    skipped: new Map(),
    writes: 0,
    running: 0,
    mostRunning: 0,
    problems: [],
  };
  const pass = async (what: string): Promise<void> => {
    for (let turn = turns(what); turn > 0; turn -= 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const hooks: WaveHooks = {
    concurrency: 16,
    blocked: () => undefined,
    async record(window) {
      seen.writes += 1;
      if (window.length > 256) seen.problems.push('a window is too large');
      await pass('record');
      for (const { address } of window) seen.recorded.add(address);
    },
    async run({ address }) {
      if (!seen.recorded.has(address)) seen.problems.push(`${address} was not recorded`);
      seen.running += 1;
      seen.mostRunning = Math.max(seen.mostRunning, seen.running);
      await pass(address);
      seen.running -= 1;
      seen.ran.push(address);
    },
    skip: ({ address }, reason, recorded) => void seen.skipped.set(address, { reason, recorded }),
    recordFailed: (error) => String(error),
    ...more,
  };
  return { seen, hooks };
}

describe('a wave', () => {
  it('runs each change once, recorded before, no more at a time than allowed, in few writes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 700 }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 20 }),
        async (count, concurrency, turns) => {
          let step = 0;
          const { seen, hooks } = watch(() => turns[step++ % turns.length]!, { concurrency });
          await runWave(changes(count), hooks);
          expect(seen.problems).toEqual([]);
          expect(seen.ran.toSorted()).toEqual(
            changes(count)
              .map(({ address }) => address)
              .toSorted(),
          );
          expect(seen.mostRunning).toBeLessThanOrEqual(concurrency);
          expect(seen.writes).toBe(Math.ceil(count / 256));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('skips what is blocked when its turn comes, and says whether it was recorded', async () => {
    let stopped = false;
    const { seen, hooks } = watch(() => 1, {
      concurrency: 4,
      blocked: ({ address }) => (stopped || address === 'e300' ? 'stopped' : undefined),
    });
    const run = hooks.run;
    await runWave(changes(1000), {
      ...hooks,
      run: async (change) => {
        await run(change);
        stopped ||= seen.ran.length >= 10;
      },
    });
    expect(seen.ran.length + seen.skipped.size).toBe(1000);
    expect(seen.ran.length).toBeLessThan(20);
    expect(seen.skipped.get('e100')).toEqual({ reason: 'stopped', recorded: true });
    expect(seen.skipped.get('e900')).toEqual({ reason: 'stopped', recorded: false });
  });

  it('sends nothing whose record failed, and goes on to the end', async () => {
    const { seen, hooks } = watch(() => 0, { record: () => Promise.reject(new Error('disk full')) });
    await runWave(changes(600), hooks);
    expect(seen.ran).toEqual([]);
    expect(seen.skipped.size).toBe(600);
    expect(seen.skipped.get('e0')).toEqual({ reason: 'Error: disk full', recorded: true });
  });

  it('ends when everything that was ready is blocked while more is to come', async () => {
    let recorded = 0;
    const { seen, hooks } = watch(() => 0, {
      record: async () => {
        recorded += 1;
      },
      blocked: () => (recorded > 0 ? 'no' : undefined),
    });
    await runWave(changes(900), hooks);
    expect(seen.skipped.size).toBe(900);
  });
});
