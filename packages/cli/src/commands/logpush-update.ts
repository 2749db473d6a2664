/** `obsiac logpush update ID`: changes a job, and only what is named. */
import type { LogpushJob } from 'cloudflare/resources/logpush/jobs';
import { COMMON_OPTIONS, CONFIG } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT } from '../exit-code.ts';
import { usageFailure } from '../failure.ts';
import {
  API_OPTIONS,
  apiUrlOf,
  openLogpush,
  PUBLIC_API,
  SCOPE_OPTIONS,
  scopeOf,
  scopePath,
} from '../logpush/access.ts';
import type { Scope } from '../logpush/client.ts';
import { destinationFor, INTAKE_OPTIONS, intakeOf, unreachableForCloudflare } from '../logpush/intake-access.ts';
import type { JobBody } from '../logpush/job.ts';
import {
  CONTENT_OPTIONS,
  FIELD_OPTIONS,
  fieldsOf,
  filterOf,
  jobIdOf,
  limitsOf,
  sampleRateOf,
  TAG_DATASET,
} from '../logpush/job-options.ts';
import { jobShown, requestShown } from '../logpush/show-job.ts';
import { notice } from '../views/messages.ts';
import type { Command, Context } from './command.ts';

/** The members that change, of a job as Cloudflare has it now. */
function changesOf(args: Arguments, context: Context, job: LogpushJob, scope: Scope): Partial<JobBody> {
  const dataset = job.dataset ?? 'http_requests';
  const enabled = args.has('enable') ? true : args.has('disable') ? false : undefined;
  const filter = args.has('no-filter') ? '' : (filterOf(args, context, dataset) ?? undefined);
  const limits = limitsOf(args);
  const options = outputOptions(args, context, job, scope);
  return {
    ...(args.text('name') !== undefined && { name: args.text('name') as string }),
    ...(options !== undefined && { output_options: options }),
    ...(args.has('new-destination') && { destination_conf: newDestination(args, context, dataset) }),
    ...(enabled !== undefined && { enabled }),
    ...(filter !== undefined && { filter }),
    ...(limits.bytes !== null && { max_upload_bytes: limits.bytes as NonNullable<JobBody['max_upload_bytes']> }),
    ...(limits.records !== null && { max_upload_records: limits.records }),
    ...(limits.seconds !== null && { max_upload_interval_seconds: limits.seconds }),
  };
}

/** Cloudflare replaces `output_options` as a whole, so what is not named is sent as it was. */
function outputOptions(
  args: Arguments,
  context: Context,
  job: LogpushJob,
  scope: Scope,
): JobBody['output_options'] | undefined {
  const fields = fieldsOf(args, context, job.dataset ?? 'http_requests', 'zone_id' in scope ? 'zone' : 'account');
  const sampleRate = sampleRateOf(args);
  if (fields === null && sampleRate === null) return undefined;
  return {
    ...job.output_options,
    ...(fields !== null && { field_names: [...fields] }),
    timestamp_format: 'unixnano',
    ...(sampleRate !== null && { sample_rate: sampleRate }),
  };
}

function newDestination(args: Arguments, context: Context, dataset: string): string {
  const destination = destinationFor(intakeOf(args, context), args.has('tag-dataset') ? dataset : undefined);
  const obstacle = unreachableForCloudflare(destination);
  if (obstacle !== undefined) context.view.say(notice(obstacle, 'warn'));
  return destination;
}

function refuseContradictions(args: Arguments): void {
  if (args.has('enable') && args.has('disable')) throw usageFailure('--enable and --disable exclude each other');
  if (args.has('no-filter') && args.has('filter')) throw usageFailure('--filter and --no-filter exclude each other');
  const ofDestination = ['intake', 'endpoint', 'username', 'tag-dataset'].find((option) => args.has(option));
  if (ofDestination !== undefined && !args.has('new-destination')) {
    throw usageFailure(`--${ofDestination} goes with --new-destination`, 'Without it the destination stays as it is.');
  }
}

export const logpushUpdate: Command = {
  name: 'logpush update',
  summary: 'Change a job',
  usage: ['logpush update ID --zone ID [options]', 'logpush update ID --account ID [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Changes what is named and leaves the rest. The dataset of a job cannot be changed. Cloudflare takes new fields and destinations up within about 15 minutes; until then it delivers as before.',
    'Cloudflare disables a job whose deliveries fail for a day; --enable starts it again. What was logged meanwhile is lost.',
  ],
  options: [
    ...SCOPE_OPTIONS,
    { name: 'name', value: 'NAME', summary: 'A new name.' },
    { name: 'enable', summary: 'Start the job.' },
    { name: 'disable', summary: 'Stop the job.' },
    ...FIELD_OPTIONS.map((option) =>
      option.name === 'fields' ? { ...option, summary: 'The fields to deliver. Repeatable.' } : option,
    ),
    ...CONTENT_OPTIONS,
    { name: 'no-filter', summary: 'Deliver everything again.' },
    {
      name: 'new-destination',
      summary: 'Deliver to the intake that --intake, -c or --endpoint names, with its credentials.',
    },
    TAG_DATASET,
    { name: 'dry-run', summary: 'Print the request without credentials, and do not send it.' },
    ...INTAKE_OPTIONS,
    CONFIG,
    ...API_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  positionals: [{ name: 'ID', required: true, summary: 'The number of the job' }],
  examples: [
    {
      about: 'Start a job that Cloudflare disabled',
      command: 'obsiac logpush update 146 --zone 023e105f4ecef8ad9ca31a8372d0c353 --enable',
    },
    {
      about: 'New credentials after the old ones were revoked',
      command:
        'obsiac logpush update 146 --zone 023e105f4ecef8ad9ca31a8372d0c353 --new-destination --intake intake.json',
    },
  ],
  run: async (args, context) => {
    const id = jobIdOf(args);
    refuseContradictions(args);
    const scope = scopeOf(args, context);
    const client = await openLogpush(args, context, scope);
    const body = changesOf(args, context, await client.get(id), scope);
    if (Object.keys(body).length === 0) {
      throw usageFailure(
        'There is nothing to change',
        'Name what is to be different, for example --enable or --fields.',
      );
    }
    if (args.has('dry-run')) {
      const url = `${apiUrlOf(args) ?? PUBLIC_API}${scopePath(scope)}/logpush/jobs/${id}`;
      context.view.say(requestShown({ method: 'PUT', url, body }));
      return EXIT.ok;
    }
    context.view.say(jobShown(await client.update(id, body), `Changed job ${id}.`));
    return EXIT.ok;
  },
};
