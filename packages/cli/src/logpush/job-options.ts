/** The options that describe a job, read and checked. */
import { DATASETS, type Dataset, defaultFields, didYouMean } from '@obsiac/model';
import type { Option } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import type { Context } from '../commands/command.ts';
import { usageFailure } from '../failure.ts';
import { notice } from '../views/messages.ts';
import { checkFilter } from './filter.ts';
import { type JobLimits, LIMIT_RANGES } from './job.ts';

export const DATASET: Option = {
  name: 'dataset',
  value: 'NAME',
  summary: 'The dataset (default http_requests); "obsiac logpush datasets" lists them.',
};

export const FIELD_OPTIONS: readonly Option[] = [
  {
    name: 'fields',
    value: 'A,B',
    repeatable: true,
    summary: 'The fields to deliver (default: all that Cloudflare documents and does not advise against). Repeatable.',
  },
  { name: 'all-fields', summary: 'Also the fields that Cloudflare advises against.' },
];

export const CONTENT_OPTIONS: readonly Option[] = [
  {
    name: 'filter',
    value: 'JSON',
    summary:
      'Deliver only what matches, for example {"where":{"key":"EdgeResponseStatus","operator":"geq","value":500}}.',
  },
  { name: 'sample-rate', value: 'SHARE', summary: 'Deliver a random share of the records, over 0 and up to 1.' },
  {
    name: 'max-bytes',
    value: 'N',
    summary:
      'Uncompressed bytes of a batch at most: 5000000 to 1000000000, or 0 for no limit. MB and GB are understood.',
  },
  { name: 'max-records', value: 'N', summary: 'Records of a batch at most: 1000 to 1000000, or 0 for no limit.' },
  {
    name: 'max-interval',
    value: 'DURATION',
    kind: 'duration',
    summary: 'Time between two batches at most: 30s to 5m, or 0 for no limit.',
  },
];

export const TAG_DATASET: Option = {
  name: 'tag-dataset',
  summary: 'Name the dataset in the address, so that the intake need not recognise it from the fields.',
};

/** A dataset name that can stand in a path. A name that is not known here is taken, with a notice. */
export function datasetOf(args: Arguments, context: Context): string {
  const dataset = args.text('dataset') ?? 'http_requests';
  if (!/^\w+$/.test(dataset)) throw usageFailure(`--dataset is not a dataset: ${dataset}`);
  if (!Object.hasOwn(DATASETS, dataset)) {
    context.view.say(
      notice(
        `The dataset ${dataset} is not known here.${didYouMean(dataset, Object.keys(DATASETS))} It is used as it is; its fields must be named with --fields.`,
        'warn',
      ),
    );
  }
  return dataset;
}

/** The fields that were asked for; null when none were. Doubts are told. */
export function fieldsOf(
  args: Arguments,
  context: Context,
  dataset: string,
  scope: 'zone' | 'account',
): readonly string[] | null {
  const known = Object.hasOwn(DATASETS, dataset) ? (DATASETS[dataset] as Dataset) : undefined;
  const named = args.texts('fields').flatMap((list) => list.split(',').map((name) => name.trim()));
  if (args.has('all-fields')) {
    if (named.length > 0) throw usageFailure('--fields and --all-fields exclude each other');
    if (known === undefined)
      throw usageFailure(`The fields of ${dataset} are not known here`, 'Name them with --fields.');
    return documentedFields(known, scope);
  }
  if (named.length === 0) return null;
  const broken = named.find((name) => !/^[\w.-]+$/.test(name));
  if (broken !== undefined)
    throw usageFailure(`--fields has a name that is none: "${broken}"`, 'Write names with commas between.');
  const twice = named.find((name, index) => named.indexOf(name) !== index);
  if (twice !== undefined) throw usageFailure(`--fields has ${twice} twice`);
  if (known !== undefined) sayDoubts(named, known, dataset, context);
  return named;
}

/** All but those that have left the documentation and those of the other scope. */
function documentedFields(dataset: Dataset, scope: 'zone' | 'account'): readonly string[] {
  return Object.entries(dataset.fields)
    .filter(([, field]) => !field.legacy && (field.only_scope === undefined || field.only_scope === scope))
    .map(([name]) => name);
}

/** The fields of a job for which none were named: the dataset's usual ones that its scope has. */
export function usualFields(dataset: string, scope: 'zone' | 'account'): readonly string[] {
  const known = Object.hasOwn(DATASETS, dataset) ? DATASETS[dataset] : undefined;
  if (known === undefined)
    throw usageFailure(`The fields of ${dataset} are not known here`, 'Name them with --fields.');
  const usual = new Set(defaultFields(known));
  return documentedFields(known, scope).filter((name) => usual.has(name));
}

function sayDoubts(named: readonly string[], known: Dataset, dataset: string, context: Context): void {
  for (const name of named.filter((one) => !Object.hasOwn(known.fields, one))) {
    const near = didYouMean(name, Object.keys(known.fields));
    context.view.say(
      notice(`${dataset} has no field ${name} that is known here.${near} It is asked for as it is.`, 'warn'),
    );
  }
  const times = [known.timestamp_field, ...(known.other_timestamp_fields ?? [])];
  if (!times.some((time) => named.includes(time))) {
    context.view.say(
      notice(
        `Without ${known.timestamp_field} the records have no time of their own and get that of their arrival.`,
        'warn',
      ),
    );
  }
}

/** The filter as it was written; null when there is none. Throws with everything that is wrong with it. */
export function filterOf(args: Arguments, context: Context, dataset: string): string | null {
  const text = args.text('filter');
  if (text === undefined) return null;
  const { problems, doubts } = checkFilter(text, dataset);
  if (problems.length > 0) {
    const [first = ''] = problems;
    throw usageFailure(
      'The match filter cannot be used',
      problems.length === 1 ? first : problems.map((one) => `- ${one}`).join('\n'),
    );
  }
  for (const doubt of doubts) context.view.say(notice(`In the match filter, ${doubt}`, 'warn'));
  return text;
}

export function sampleRateOf(args: Arguments): number | null {
  const text = args.text('sample-rate');
  if (text === undefined) return null;
  const rate = /^(\d+(\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (!(rate > 0 && rate <= 1)) {
    throw usageFailure(
      `--sample-rate is over 0 and up to 1; ${text} is not`,
      'For example 0.01 for one record of a hundred.',
    );
  }
  return rate;
}

/** Null where nothing was asked for. 0 switches a limit off. */
export function limitsOf(args: Arguments): JobLimits {
  const interval = args.number('max-interval');
  const records = args.text('max-records');
  const bytes = args.text('max-bytes');
  return {
    bytes: bytes === undefined ? null : inRange('bytes', 'max-bytes', sizeOf(bytes, 'max-bytes')),
    records: records === undefined ? null : inRange('records', 'max-records', sizeOf(records, 'max-records')),
    seconds: interval === undefined ? null : inRange('seconds', 'max-interval', interval / 1000),
  };
}

const UNITS: Readonly<Record<string, number>> = { '': 1, K: 1e3, M: 1e6, G: 1e9 };

/** `5000000`, `5MB`, `1GB`; powers of ten, as Cloudflare counts. */
export function sizeOf(text: string, option: string): number {
  const [, digits, unit = ''] = /^(\d{1,12})(?:([KMG])B?)?$/i.exec(text) ?? [];
  if (digits === undefined) throw usageFailure(`--${option} needs a whole number; "${text}" is none`);
  return Number(digits) * (UNITS[unit.toUpperCase()] ?? 1);
}

function inRange(limit: keyof typeof LIMIT_RANGES, option: string, value: number): number {
  const { least, most } = LIMIT_RANGES[limit];
  if (value === 0 || (value >= least && value <= most && Number.isInteger(value))) return value;
  const unit = limit === 'seconds' ? ' seconds' : '';
  throw usageFailure(`--${option} is from ${least} to ${most}${unit}, or 0; ${value} is not`);
}

/** The id of a job, as Cloudflare numbers them. */
export function jobIdOf(args: Arguments): number {
  const text = args.positional(0) ?? '';
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw usageFailure(`ID is not the number of a job: ${text}`, '"obsiac logpush list" shows them.');
  return Number(text);
}
