/**
 * Rules evaluated minute by minute, by two processes on one database that restart, stand still and miss minutes, tell what one
 * undisturbed process tells, and what the definition of alerting gives over the whole window at once.
 */
import { createHash } from 'node:crypto';
import { type Episode, judge, seriesKey, transition } from '@obsiac/model';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../packages/service/src/metadata/store.ts';
import type { AlertEpisodeRow, AlertNotificationRow } from '../../packages/service/src/metadata/tables.ts';
import { createVault } from '../../packages/service/src/secrets/vault.ts';
import { type Postgres, postgresBinaries, startPostgres } from '../../tasks/postgres.ts';
import { isMissing, useWorlds } from './servers.ts';
import { START, type World } from './world.ts';

const SOAK = process.env['OBSIAC_SOAK'] === '1';
const RUNS = SOAK ? 40 : 2;
const RULES = SOAK ? 8 : 4;
/** Evaluated minutes that are compared. */
const MINUTES = SOAK ? 100 : 50;
/** Minutes afterwards, in which every rule finds an owner. */
const SETTLE = 4;

const worlds = useWorlds();
const binaries = postgresBinaries();
let postgres: Postgres | undefined;

beforeAll(async () => {
  if ('bin' in binaries) postgres = await startPostgres(binaries.bin);
});
afterAll(() => postgres?.stop());

interface RandomRule {
  readonly bad: number;
  readonly total: number;
  readonly isGrouped: boolean;
  /** Values by series; NaN is a gap. */
  readonly series: readonly (readonly number[])[];
}

/** What happens in one minute: which processes look, and which are restarted before. */
interface Moment {
  readonly looks: readonly number[];
  readonly restarts: readonly number[];
}

/** Stretches of one kind, so that episodes are neither all nor nothing. */
const values = fc
  .array(
    fc.record({
      length: fc.integer({ min: 1, max: 9 }),
      value: fc.constantFrom(1, 1, 1, 9, 9, 7, Number.NaN),
    }),
    { minLength: 12, maxLength: 60 },
  )
  .map((stretches) => {
    const all = stretches.flatMap(({ length, value }) => new Array<number>(length).fill(value));
    return Array.from({ length: MINUTES + SETTLE + 1 }, (_, index) => all[index % all.length]!);
  });

const rules = fc.array(
  fc
    .record({
      bad: fc.integer({ min: 1, max: 6 }),
      more: fc.integer({ min: 0, max: 8 }),
      isGrouped: fc.boolean(),
      series: fc.array(values, { minLength: 1, maxLength: 3 }),
    })
    .map(({ more, ...rule }): RandomRule => ({ ...rule, total: rule.bad + more })),
  { minLength: RULES, maxLength: RULES },
);

const CALM: Moment = { looks: [0, 1], restarts: [] };

/** The first minutes are calm: a rule begins when a process sees it for the first time. */
const moments = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: fc.constant(CALM) },
      { weight: 2, arbitrary: fc.constant<Moment>({ looks: [1, 0], restarts: [] }) },
      { weight: 2, arbitrary: fc.constant<Moment>({ looks: [0], restarts: [] }) },
      { weight: 2, arbitrary: fc.constant<Moment>({ looks: [1], restarts: [] }) },
      { weight: 3, arbitrary: fc.constant<Moment>({ looks: [], restarts: [] }) },
      { weight: 1, arbitrary: fc.constant<Moment>({ looks: [0, 1], restarts: [0] }) },
      { weight: 1, arbitrary: fc.constant<Moment>({ looks: [0, 1], restarts: [1] }) },
      { weight: 1, arbitrary: fc.constant<Moment>({ looks: [], restarts: [0, 1] }) },
    ),
    { minLength: MINUTES - 2, maxLength: MINUTES - 2 },
  )
  .map((all) => [CALM, CALM, ...all]);

const RECOVER = fc.integer({ min: 1, max: 5 });

const labelsOf = (series: number) => ({ host: `h${series}` });

async function declare(world: World, prefix: string, all: readonly RandomRule[]): Promise<void> {
  for (const [index, { bad, total, isGrouped }] of all.entries()) {
    const document = {
      rule_name: `r${index}`,
      alert_condition: `count_true(result) >= ${bad}`,
      eval_window: total,
      group_timeseries_notifications: isGrouped,
    };
    const { entity } = await world.rule(document, { metric: `${prefix}_${index}` });
    // Two repeats fit into the run.
    await world.call('PUT', `/entities/${entity}/metadata`, { renotify_interval_seconds: 1200 });
  }
}

async function disturb(world: World, schedule: readonly Moment[]): Promise<void> {
  for (const { looks, restarts } of schedule) {
    for (const which of restarts) await world.restart(which);
    await world.look(looks);
    world.skip(1);
  }
  await world.pass(SETTLE);
}

interface Told {
  readonly episodes: readonly string[];
  readonly messages: readonly string[];
}

/** All that is in the store up to the last minute that is compared. */
async function readStore(world: World): Promise<Told> {
  const store = await openStore({ ...world.database, vault: createVault(Buffer.alloc(32)), now: Date.now });
  try {
    const episodes = await store.db.selectFrom('alert_episodes').selectAll().execute();
    const messages = await store.db.selectFrom('alert_notifications').selectAll().execute();
    const last = START + MINUTES - 1;
    return {
      episodes: episodes
        .filter(({ fired_minute }) => fired_minute <= last)
        .map(episodeText)
        .sort(),
      messages: messages
        .filter(({ minute }) => minute <= last)
        .map(messageText)
        .sort(),
    };
  } finally {
    await store.db.destroy();
  }
}

interface EpisodeLine {
  readonly rule: string;
  readonly key: string;
  readonly first: number;
  readonly fired: number;
  readonly resolved: number | undefined;
  readonly reason: string;
  readonly value: number | null;
}

function lineOf({ rule, key, first, fired, resolved, reason, value }: EpisodeLine): string {
  const isOver = resolved !== undefined && resolved < START + MINUTES;
  const end = isOver ? `until ${resolved - START}, ${reason}` : 'goes on';
  return `${rule} ${key} since ${first - START}, fired ${fired - START} at ${value}, ${end}`;
}

function episodeText(row: AlertEpisodeRow): string {
  return lineOf({
    rule: (JSON.parse(row.facts) as { rule_name: string }).rule_name,
    key: row.series_key,
    first: row.first_bad_minute,
    fired: row.fired_minute,
    resolved: row.resolved_minute ?? undefined,
    reason: row.reason,
    value: row.value,
  });
}

/** Without ids, which are different in every store. */
function messageText(row: AlertNotificationRow): string {
  const { title, value, series, started_at, ended_at, reason } = JSON.parse(row.message) as Record<string, unknown>;
  const said = JSON.stringify({ title, value, series, started_at, ended_at, reason });
  return `${row.minute - START} ${row.channel_name} ${row.event} ${row.sequence} ${row.status} ${said}`;
}

/** The definition itself, over the whole window at once. */
function expectedEpisodes(all: readonly RandomRule[], recoverMinutes: number): string[] {
  const identify = (text: string) => createHash('sha256').update(text).digest('hex');
  const lines = all.flatMap(({ bad, total, series }, index) => {
    const judged = series.map((column, each) => {
      const labels = labelsOf(each);
      const first = { key: seriesKey(labels), labels, first: START, values: Float64Array.from(column) };
      return judge(first, 'greater_than', 5);
    });
    const rule = {
      id: String(index),
      definition: 'one',
      badMinutes: bad,
      totalMinutes: total,
      recoverMinutes,
      missing: 'ignore',
      worst: 'greatest',
    } as const;
    const until = { from: START, to: START + MINUTES - 1 };
    const { episodes } = transition({ rule, episodes: [], series: judged, ...until, identify });
    return episodes.map((episode) => lineOf({ ...ofEpisode(episode), rule: `r${index}` }));
  });
  return lines.sort();
}

function ofEpisode(episode: Episode): Omit<EpisodeLine, 'rule'> {
  return {
    key: episode.seriesKey,
    first: episode.firstBadMinute,
    fired: episode.firedMinute,
    resolved: episode.resolvedMinute,
    reason: episode.reason ?? '',
    value: episode.value,
  };
}

/** Each channel hears of an alert its beginning first and its end last, each once, and nothing that the store does not know. */
function requireOrder(world: World): void {
  const byKey = Map.groupBy(world.received, ({ channel, key }) => `${channel} ${key}`);
  for (const messages of byKey.values()) {
    const events = messages.map(({ event }) => event).join(' ');
    expect(events).toMatch(/^trigger( repeat)*( resolve)?$/);
  }
}

let runs = 0;

describe.skipIf(isMissing || 'missing' in binaries)('two processes that are disturbed', () => {
  it(
    'tell what one tells that is not',
    async () => {
      await fc.assert(
        fc.asyncProperty(rules, moments, RECOVER, async (all, schedule, recoverMinutes) => {
          runs += 1;
          const prefix = `run${runs}`;
          const options = { channels: ['hook', 'pager'], recoverMinutes } as const;
          const calm = await worlds.open(options);
          for (const [index, { series }] of all.entries()) {
            for (const [each, column] of series.entries()) {
              await calm.write(column, { metric: `${prefix}_${index}`, labels: labelsOf(each) });
            }
          }
          await declare(calm, prefix, all);
          await calm.pass(MINUTES + SETTLE);
          const undisturbed = await readStore(calm);
          expect(undisturbed.episodes).toEqual(expectedEpisodes(all, recoverMinutes));

          const databaseUrl = await postgres!.createDatabase();
          const other = await worlds.open({ ...options, databaseUrl, evaluators: 2 });
          await declare(other, prefix, all);
          await disturb(other, schedule);
          expect(await readStore(other)).toEqual(undisturbed);
          requireOrder(calm);
          requireOrder(other);
          await calm.stop();
          await other.stop();
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
    },
    SOAK ? 3_600_000 : 180_000,
  );
});
