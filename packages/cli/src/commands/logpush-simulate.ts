/** `obsiac logpush simulate`: edge traffic that never happened, delivered as Logpush delivers. */
import path from 'node:path';
import { DATASETS, didYouMean } from '@obsiac/model';
import { COMMON_OPTIONS, CONFIG } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT } from '../exit-code.ts';
import { Failure, usageFailure } from '../failure.ts';
import { type Batch, type Delivered, deliver, toDirectory, toIntake } from '../logpush/deliver.ts';
import { destinationFor, INTAKE_OPTIONS, intakeOf } from '../logpush/intake-access.ts';
import { openIntake } from '../logpush/intake-http.ts';
import { DATASET, sizeOf, TAG_DATASET } from '../logpush/job-options.ts';
import { batches, type Simulation, simulate } from '../logpush/simulate/simulate.ts';
import { isoTime, nanosecondsOf } from '../logs/search-options.ts';
import { parseTime } from '../promql/time.ts';
import { notice } from '../views/messages.ts';
import { counted } from '../views/plan/report.ts';
import type { Command, Context } from './command.ts';

const MILLION = 1_000_000n;
/** What Cloudflare itself puts into a batch at most, when a job does not say. */
const USUAL_RECORDS = 100_000;
const USUAL_BYTES = 5_000_000;
const MOST_RECORDS_EXPECTED = 1e9;
/** How long a batch is tried while the intake is busy or away. */
const PATIENCE_MS = 300_000;

/** Start and end in Unix nanoseconds. */
function spanOf(args: Arguments, now: number): { readonly from: bigint; readonly to: bigint } {
  const [from, to, duration] = [args.text('from'), args.text('to'), args.number('duration')];
  if (from !== undefined && to !== undefined && duration !== undefined) {
    throw usageFailure('--from, --to and --duration are one too many', 'Two of them say it all.');
  }
  const length = BigInt(duration ?? 3_600_000) * MILLION;
  if (from !== undefined) {
    const start = nanosecondsOf(from, 'from', now);
    const end =
      to === undefined
        ? duration === undefined
          ? BigInt(now) * MILLION
          : start + length
        : nanosecondsOf(to, 'to', now);
    return ordered(start, end);
  }
  const end = to === undefined ? BigInt(now) * MILLION : nanosecondsOf(to, 'to', now);
  return ordered(end - length, end);
}

function ordered(from: bigint, to: bigint) {
  if (from < to) return { from, to };
  throw usageFailure('The time range is empty', `It would be from ${isoTime(from)} to ${isoTime(to)}.`);
}

function simulationOf(args: Arguments): Simulation {
  const dataset = args.text('dataset') ?? 'http_requests';
  if (!Object.hasOwn(DATASETS, dataset)) {
    throw usageFailure(
      `The dataset ${dataset} cannot be simulated`,
      `"obsiac logpush datasets" lists those that can.${didYouMean(dataset, Object.keys(DATASETS))}`,
    );
  }
  const { from, to } = spanOf(args, Date.now());
  const rate = Number(args.text('rate') ?? '10');
  if (!(rate > 0 && rate <= 1_000_000))
    throw usageFailure(`--rate is a number over 0; ${args.text('rate')} is not`, 'Records a second, up to 1000000.');
  const expected = (Number(to - from) / 1e9) * rate;
  if (expected > MOST_RECORDS_EXPECTED) {
    throw usageFailure(
      `That is ${Math.round(expected).toLocaleString('en-US')} records`,
      'Simulate a billion at most: a shorter time, or a lower --rate.',
    );
  }
  return { dataset, seed: args.number('seed') ?? 1, from, to, rate, incident: incidentOf(args, from, to) };
}

/** Two times with a comma between; durations count from the start. */
function incidentOf(args: Arguments, from: bigint, to: bigint): Simulation['incident'] {
  const text = args.text('incident');
  if (text === undefined) return null;
  const parts = text.split(',');
  if (parts.length !== 2)
    throw usageFailure(
      `--incident is two times with a comma between; ${text} is not`,
      'For example 20m,35m: from 20 to 35 minutes after the start.',
    );
  const start = Number(from / MILLION);
  const [begin, end] = parts.map((part) => BigInt(parseTime(part.trim(), 'incident', Date.now(), start)) * MILLION) as [
    bigint,
    bigint,
  ];
  if (begin >= end || end <= from || begin >= to) {
    throw usageFailure(
      '--incident does not lie in the time range',
      `It would be from ${isoTime(begin)} to ${isoTime(end)}.`,
    );
  }
  return { from: begin, to: end };
}

function limitsOf(args: Arguments): { readonly bytes: number; readonly records: number } {
  const limit = (option: string, usual: number) => {
    const text = args.text(option);
    const value = text === undefined ? usual : sizeOf(text, option);
    if (value < 1 || value > 1e9) throw usageFailure(`--${option} is from 1 to 1000000000; ${text} is not`);
    return value;
  };
  return { bytes: limit('batch-bytes', USUAL_BYTES), records: limit('batch-records', USUAL_RECORDS) };
}

interface Run {
  readonly simulation: Simulation;
  readonly total: Delivered;
  /** Where the records went, for people. */
  readonly to: string;
}

function sayProgress(context: Context, { simulation, total }: Run): void {
  const expected = Math.max(
    total.records,
    Math.round((Number(simulation.to - simulation.from) / 1e9) * simulation.rate),
  );
  context.view.say({
    stream: 'err',
    status: () =>
      `${total.records.toLocaleString('en-US')} of about ${expected.toLocaleString('en-US')} records, ${total.batches.toLocaleString('en-US')} sent`,
  });
}

function saySummary(context: Context, { simulation, total, to }: Run, elapsedMs: number): void {
  const { dataset, seed, from, incident } = simulation;
  const size = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  const batchCount = `${total.batches.toLocaleString('en-US')} batch${total.batches === 1 ? '' : 'es'}`;
  const message = `Delivered ${counted(total.records, 'record')} of ${dataset} in ${batchCount} ${to}`;
  const sizes = `${size(total.rawBytes)}, ${size(total.bytes)} compressed, in ${(elapsedMs / 1000).toFixed(1)} s`;
  const trouble = incident ? `; the origin fails from ${isoTime(incident.from)} to ${isoTime(incident.to)}` : '';
  const span = `From ${isoTime(from)} to ${isoTime(simulation.to)}, seed ${seed}${trouble}.`;
  context.view.say({ stream: 'err', status: () => null });
  context.view.say({
    stream: 'out',
    human: () => `${message}: ${sizes}.\n${span}\n`,
    json: () => [
      {
        type: 'logpush_simulated',
        message,
        dataset,
        seed,
        from: from.toString(),
        to: simulation.to.toString(),
        records: total.records,
        batches: total.batches,
        raw_bytes: total.rawBytes,
        bytes: total.bytes,
        rejected: total.rejected,
      },
    ],
  });
  if (total.rejected > 0)
    context.view.say(notice(`The intake did not take ${counted(total.rejected, 'record')}.`, 'warn'));
}

/** Prepares where the batches go; `close` is called in the end. */
async function openTarget(args: Arguments, context: Context, dataset: string, concurrency: number) {
  const directory = args.text('out');
  if (directory !== undefined) {
    const receive = await toDirectory(path.resolve(context.cwd, directory), directory, dataset);
    return { receive, to: `into ${directory}`, close: async () => undefined };
  }
  const intake = intakeOf(args, context);
  const destination = destinationFor(intake, args.has('tag-dataset') ? dataset : undefined);
  const sender = openIntake({
    destination,
    authorization: intake.authorization,
    connections: concurrency,
    signal: context.cancelled,
    patienceMs: PATIENCE_MS,
    onWait: (ms) =>
      context.view.say({ stream: 'err', status: () => `The intake asks to wait: ${(ms / 1000).toFixed(1)} s` }),
  });
  return { receive: toIntake(sender), to: `to ${new URL(destination).host}`, close: sender.close };
}

export const logpushSimulate: Command = {
  name: 'logpush simulate',
  summary: 'Deliver edge traffic that never happened',
  usage: ['logpush simulate --intake FILE [options]', 'logpush simulate --out DIR [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Makes records of a dataset as a busy shop would have them, and delivers them as Logpush does: NDJSON batches, compressed, by POST with the credentials of the intake. With --out it writes the batches as files.',
    'The same seed and times give the same records. During an incident the origin fails: server errors, slow answers, fewer of everything else. An intake that answers 503 is waited for as long as it asks.',
  ],
  options: [
    { ...DATASET, summary: 'The dataset (default http_requests).' },
    { name: 'rate', value: 'N', summary: 'Records a second, on average over a day (default 10).' },
    {
      name: 'from',
      value: 'TIME',
      summary: 'Start: now-2h, 2h for so long ago, 2026-11-21T07:30:00Z (default: --duration before --to).',
    },
    { name: 'to', value: 'TIME', summary: 'End (default now).' },
    { name: 'duration', value: 'DURATION', kind: 'duration', summary: 'Time from start to end (default 1h).' },
    {
      name: 'incident',
      value: 'FROM,TO',
      summary: 'When the origin fails: times, or durations after the start, such as 20m,35m.',
    },
    { name: 'seed', value: 'N', kind: 'integer', summary: 'What decides everything random (default 1).' },
    { name: 'batch-bytes', value: 'N', summary: 'Uncompressed bytes of a batch at most (default 5MB).' },
    { name: 'batch-records', value: 'N', summary: 'Records of a batch at most (default 100000).' },
    { name: 'concurrency', value: 'N', kind: 'integer', summary: 'Batches under way at once, 1 to 64 (default 4).' },
    { name: 'out', value: 'DIR', complete: 'file', summary: 'Write the batches into files of this directory.' },
    TAG_DATASET,
    ...INTAKE_OPTIONS,
    CONFIG,
    ...COMMON_OPTIONS,
  ],
  positionals: [],
  examples: [
    {
      about: 'Two hours with a quarter of an hour of trouble',
      command: 'obsiac logpush simulate --intake .obsiac/intake.json --duration 2h --incident 75m,90m',
    },
    {
      about: 'A million records in files',
      command: 'obsiac logpush simulate --out batches --rate 280 --duration 1h --seed 7',
    },
    {
      about: 'DNS queries',
      command: 'obsiac logpush simulate --intake .obsiac/intake.json --dataset dns_logs --rate 50 --duration 10m',
    },
  ],
  run: async (args, context) => {
    const simulation = simulationOf(args);
    const limits = limitsOf(args);
    const concurrency = args.number('concurrency') ?? 4;
    if (concurrency < 1 || concurrency > 64) throw usageFailure(`--concurrency is from 1 to 64; ${concurrency} is not`);
    const target = await openTarget(args, context, simulation.dataset, concurrency);
    const run: Run = {
      simulation,
      total: { batches: 0, records: 0, bytes: 0, rawBytes: 0, rejected: 0 },
      to: target.to,
    };
    const startedAt = performance.now();
    const made: Iterator<Batch> = batches(simulate(simulation), limits);
    try {
      await deliver(made, target.receive, run.total, {
        concurrency,
        signal: context.cancelled,
        onBatch: () => sayProgress(context, run),
      });
    } catch (error) {
      if (run.total.records > 0) saySummary(context, run, performance.now() - startedAt);
      throw error;
    } finally {
      await target.close();
    }
    saySummary(context, run, performance.now() - startedAt);
    if (context.cancelled.aborted) {
      throw new Failure(EXIT.cancelled, {
        code: 'cancelled',
        summary: 'Cancelled',
        detail: 'The rest was not delivered.',
      });
    }
    return EXIT.ok;
  },
};
