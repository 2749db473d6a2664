/** `obsiac logpush create`: a job that delivers a dataset to the intake. */
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
import { type JobBody, jobBody } from '../logpush/job.ts';
import {
  CONTENT_OPTIONS,
  DATASET,
  datasetOf,
  FIELD_OPTIONS,
  fieldsOf,
  filterOf,
  limitsOf,
  sampleRateOf,
  TAG_DATASET,
  usualFields,
} from '../logpush/job-options.ts';
import { jobShown, requestShown } from '../logpush/show-job.ts';
import { notice } from '../views/messages.ts';
import type { Command, Context } from './command.ts';

function readJob(args: Arguments, context: Context): { readonly scope: Scope; readonly body: JobBody } {
  const dataset = datasetOf(args, context);
  const scope = scopeOf(args, context, dataset);
  const kind = 'zone_id' in scope ? 'zone' : 'account';
  const destination = destinationFor(intakeOf(args, context), args.has('tag-dataset') ? dataset : undefined);
  const obstacle = unreachableForCloudflare(destination);
  if (obstacle !== undefined) context.view.say(notice(obstacle, 'warn'));
  const body = jobBody({
    name: nameOf(args, dataset),
    dataset,
    destination,
    fields: fieldsOf(args, context, dataset, kind) ?? usualFields(dataset, kind),
    enabled: !args.has('disabled'),
    filter: filterOf(args, context, dataset),
    sampleRate: sampleRateOf(args),
    limits: limitsOf(args),
  });
  return { scope, body };
}

/** Cloudflare takes 512 characters. */
function nameOf(args: Arguments, dataset: string): string {
  const name = args.text('name') ?? `obsiac-${dataset.replaceAll('_', '-')}`;
  if (name.length > 512) throw usageFailure('--name is longer than 512 characters');
  return name;
}

export const logpushCreate: Command = {
  name: 'logpush create',
  summary: 'Create a job that delivers a dataset here',
  usage: [
    'logpush create --zone ID --intake FILE [options]',
    'logpush create --account ID --dataset NAME --intake FILE [options]',
  ],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    "Creates a Logpush job at Cloudflare: the dataset, as NDJSON with nanosecond timestamps, to the intake of the service. The intake's address and credentials come from the intake.json of the service, or from --endpoint and --username.",
    'Cloudflare uploads a test file before it takes the job, so the intake must be reachable over HTTPS with a publicly trusted certificate. "obsiac logpush check" tries it from here.',
    'Credentials are never written on the command line: CLOUDFLARE_API_TOKEN, or CLOUDFLARE_EMAIL with CLOUDFLARE_API_KEY, or files. The token needs the permission "Logs: Write".',
  ],
  options: [
    ...SCOPE_OPTIONS,
    DATASET,
    { name: 'name', value: 'NAME', summary: 'The name of the job (default: obsiac and the dataset).' },
    ...FIELD_OPTIONS,
    ...CONTENT_OPTIONS,
    TAG_DATASET,
    { name: 'disabled', summary: 'Create the job, but do not start it.' },
    { name: 'dry-run', summary: 'Print the request without credentials, and do not send it.' },
    ...INTAKE_OPTIONS,
    CONFIG,
    ...API_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  positionals: [],
  examples: [
    {
      about: 'The requests of a zone',
      command: 'obsiac logpush create --zone 023e105f4ecef8ad9ca31a8372d0c353 --intake intake.json',
    },
    {
      about: 'Only errors, only some fields, nothing sent yet',
      command: `obsiac logpush create --zone 023e105f4ecef8ad9ca31a8372d0c353 --intake intake.json --fields EdgeStartTimestamp,RayID,EdgeResponseStatus --filter '{"where":{"key":"EdgeResponseStatus","operator":"geq","value":500}}' --dry-run`,
    },
    {
      about: 'The Workers of an account, to an address behind a proxy',
      command:
        'obsiac logpush create --account 699d98642c564d2e855e9661899b7252 --dataset workers_trace_events --intake intake.json --endpoint logs.example.com',
    },
  ],
  run: async (args, context) => {
    const { scope, body } = readJob(args, context);
    if (args.has('dry-run')) {
      const url = `${apiUrlOf(args) ?? PUBLIC_API}${scopePath(scope)}/logpush/jobs`;
      context.view.say(requestShown({ method: 'POST', url, body }));
      return EXIT.ok;
    }
    const client = await openLogpush(args, context, scope);
    const job = await client.create(body);
    context.view.say(jobShown(job, `Created job ${job.id}.`));
    return EXIT.ok;
  },
};
