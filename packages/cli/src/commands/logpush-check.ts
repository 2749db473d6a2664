/** `obsiac logpush check`: proves a destination from the upload to the answer of a query. */
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMON_OPTIONS, CONFIG } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT } from '../exit-code.ts';
import { Failure, usageFailure } from '../failure.ts';
import { API_OPTIONS, openLogpush, SCOPE_OPTIONS, scopeOf } from '../logpush/access.ts';
import { authorizationOf, basicAuthorization, redactDestination } from '../logpush/destination.ts';
import { destinationFor, INTAKE_OPTIONS, intakeOf, unreachableForCloudflare } from '../logpush/intake-access.ts';
import { IntakeError, openIntake } from '../logpush/intake-http.ts';
import { markedRecord, TEST_FILE } from '../logpush/marked-record.ts';
import { withLogs } from '../logs/search-options.ts';
import { notice, result } from '../views/messages.ts';
import type { Command, Context } from './command.ts';

interface Destination {
  readonly destination: string;
  readonly authorization: string;
}

/** Of a job at Cloudflare, or of the intake that the options name. */
async function destinationToCheck(args: Arguments, context: Context): Promise<Destination> {
  const job = args.text('job');
  if (job === undefined) {
    const intake = intakeOf(args, context);
    return { destination: destinationFor(intake, undefined), authorization: intake.authorization };
  }
  if (!/^[1-9]\d{0,14}$/.test(job)) throw usageFailure(`--job is not the number of a job: ${job}`);
  const client = await openLogpush(args, context, scopeOf(args, context));
  const destination = (await client.get(Number(job))).destination_conf ?? '';
  const authorization = authorizationOf(destination);
  if (!/^https?:\/\//.test(destination) || authorization === undefined) {
    throw new Failure(EXIT.error, {
      code: 'destination_of_another_kind',
      summary: `Job ${job} does not deliver to an intake of this kind`,
      detail: `Its destination is ${redactDestination(destination)}; an HTTP address with header_Authorization is needed.`,
    });
  }
  return { destination, authorization };
}

function sayStep(context: Context, step: string, text: string): void {
  context.view.say(result({ type: 'logpush_check', message: text, step }, (style) => `${style.add('ok')}  ${text}\n`));
}

/** A send of its own connection, so that each step shows its own failure. */
async function upload(target: Destination, text: string, context: Context) {
  const sender = openIntake({ ...target, signal: context.cancelled, patienceMs: 0 });
  try {
    return await sender.send(text);
  } finally {
    await sender.close();
  }
}

async function checkTestFile(target: Destination, context: Context): Promise<void> {
  const { status } = await upload(target, TEST_FILE, context);
  if (status !== 200) {
    throw new IntakeError(
      'intake_refused',
      `The intake answered the test file with ${status}`,
      'Cloudflare is known to take only 200 for it.',
    );
  }
  sayStep(context, 'test_file', 'The test file that Cloudflare uploads first is accepted.');
}

async function checkStrangers(target: Destination, context: Context): Promise<void> {
  const authorization = basicAuthorization({ username: 'nobody', password: 'wrong' });
  const { origin, pathname } = new URL(target.destination);
  try {
    await upload({ destination: `${origin}${pathname}`, authorization }, TEST_FILE, context);
  } catch (error) {
    if (!(error instanceof IntakeError) || error.code !== 'intake_credentials_refused') throw error;
    sayStep(context, 'strangers', 'Wrong credentials are refused.');
    return;
  }
  throw new IntakeError(
    'intake_refused',
    'The intake takes wrong credentials',
    'Whoever knows the address could write logs. A proxy in front may answer in the place of the intake.',
  );
}

async function checkRecord(target: Destination, line: string, context: Context): Promise<void> {
  const { accepted } = await upload(target, line, context);
  if (accepted !== 1) {
    throw new IntakeError(
      'intake_refused',
      accepted === undefined ? 'What answers is not an intake of Obsiac' : 'The intake did not take the record',
      accepted === undefined
        ? 'The upload was answered with success, but without the number of records.'
        : `It accepted ${accepted} records of 1.`,
    );
  }
  sayStep(context, 'record', 'A record is accepted, and stored for good.');
}

const FIRST_LOOK_MS = 100;
const LONGEST_PAUSE_MS = 2000;

async function checkFound(query: string, sentAt: number, args: Arguments, context: Context): Promise<void> {
  const timeoutMs = args.number('timeout') ?? 30_000;
  const since = (BigInt(sentAt) - 3_600_000n) * 1_000_000n;
  const range = { from: since.toString(), to: (since + 7_200_000_000_000n).toString() };
  const startedAt = performance.now();
  const found = await withLogs(args, context, async (logs) => {
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LONGEST_PAUSE_MS, pause * 2)) {
      const answer = await logs.query({ query, ...range, limit: 2 }, { signal: context.cancelled });
      if (answer.kind === 'records' && answer.records.length > 0) return answer.records.length;
      if (performance.now() - startedAt + pause > timeoutMs) return 0;
      await sleep(pause, undefined, { signal: context.cancelled });
    }
  });
  if (found === 0) {
    throw new Failure(EXIT.error, {
      code: 'record_not_found',
      summary: 'The record was accepted, but no query finds it',
      detail: `It was looked for during ${timeoutMs / 1000} s in the organization of the config. The intake may belong to another service or organization, or the service is behind with loading: look at its log and metrics.`,
    });
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  sayStep(context, 'found', `A query finds the record after ${seconds} s.`);
}

export const logpushCheck: Command = {
  name: 'logpush check',
  summary: 'Prove a destination from upload to query',
  usage: ['-c PATH logpush check [--intake FILE] [options]', '-c PATH logpush check --job ID --zone ID [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Does what Cloudflare does: uploads the test file, then one record of its own, each compressed and with the credentials of the destination. Then it finds the record with a query, with the read token of the config. Each step is told, and a failure says what to do.',
    'It tries from this machine. Cloudflare comes from the internet and also wants a publicly trusted certificate.',
    'The record stays in the log; its host is obsiac-check.invalid.',
  ],
  options: [
    CONFIG,
    ...INTAKE_OPTIONS,
    { name: 'job', value: 'ID', summary: 'Check the destination of this job, as Cloudflare has it.' },
    { name: 'timeout', value: 'DURATION', kind: 'duration', summary: 'How long to look for the record (default 30s).' },
    { name: 'upload-only', summary: 'Do not look for the record; no config is needed then.' },
    ...SCOPE_OPTIONS,
    ...API_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  positionals: [],
  examples: [
    { about: 'The service on this machine', command: 'obsiac -c .obsiac/config.json logpush check' },
    {
      about: 'Through the proxy that Cloudflare will use',
      command: 'obsiac -c config.json logpush check --intake intake.json --endpoint https://logs.example.com',
    },
    {
      about: 'What a job delivers to',
      command: 'obsiac -c config.json logpush check --job 146 --zone 023e105f4ecef8ad9ca31a8372d0c353',
    },
  ],
  run: async (args, context) => {
    if (!args.has('upload-only') && !args.has('config')) {
      throw usageFailure(
        '-c CONFIG is missing',
        'The record is found with the read token of the config; --upload-only does without.',
      );
    }
    const target = await destinationToCheck(args, context);
    context.view.say(notice(`Checking ${redactDestination(target.destination)}`));
    const obstacle = unreachableForCloudflare(target.destination);
    if (obstacle !== undefined) context.view.say(notice(obstacle, 'warn'));
    await checkTestFile(target, context);
    await checkStrangers(target, context);
    const sentAt = Date.now();
    const { line, query } = markedRecord(sentAt);
    await checkRecord(target, line, context);
    if (!args.has('upload-only')) await checkFound(query, sentAt, args, context);
    return EXIT.ok;
  },
};
