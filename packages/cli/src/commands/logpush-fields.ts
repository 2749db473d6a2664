/** `obsiac logpush fields DATASET`: the fields of a dataset. */
import { DATASETS, didYouMean } from '@obsiac/model';
import { COMMON_OPTIONS } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { Failure, usageFailure } from '../failure.ts';
import { API_OPTIONS, openLogpush, SCOPE_OPTIONS, scopeOf } from '../logpush/access.ts';
import { tableText } from '../views/table.ts';
import type { Command } from './command.ts';

interface Field {
  readonly name: string;
  readonly field_type: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly legacy?: boolean;
}

function knownFields(dataset: string, withLegacy: boolean): readonly Field[] {
  const known = Object.hasOwn(DATASETS, dataset) ? DATASETS[dataset] : undefined;
  if (known === undefined) {
    throw new Failure(EXIT.invalid, {
      code: 'unknown_dataset',
      summary: `The dataset ${dataset} is not known here`,
      detail: `"obsiac logpush datasets" lists those that are; --live asks Cloudflare.${didYouMean(dataset, Object.keys(DATASETS))}`,
    });
  }
  return Object.entries(known.fields)
    .filter(([, { legacy }]) => withLegacy || !legacy)
    .map(([name, { type, description, deprecated, legacy }]) => ({
      name,
      field_type: type,
      description,
      ...(deprecated && { deprecated }),
      ...(legacy && { legacy }),
    }));
}

/** Cloudflare's descriptions begin with the type: `string; The country of the client`. */
export function liveField(name: string, text: string): Field {
  const [, type, description] = /^\s*([\w[\] ]{1,24}?)\s*[;,:-]\s*(.*)$/s.exec(text) ?? [];
  return type === undefined || description === undefined
    ? { name, field_type: text.trim().split(/\s/)[0] ?? '', description: text.trim() }
    : { name, field_type: type, description };
}

export const logpushFields: Command = {
  name: 'logpush fields',
  summary: 'List the fields of a dataset',
  usage: ['logpush fields DATASET [options]', 'logpush fields DATASET --live --zone ID [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Lists the fields of a dataset as they are known here, each with its type. Records with other fields are stored all the same. With --live it asks Cloudflare.',
  ],
  options: [
    { name: 'live', summary: 'Ask Cloudflare.' },
    { name: 'legacy', summary: 'Also fields that Cloudflare no longer has, and older records do.' },
    ...SCOPE_OPTIONS,
    ...API_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  positionals: [{ name: 'DATASET', required: true, summary: 'The name of a dataset' }],
  examples: [
    { about: 'Of the requests', command: 'obsiac logpush fields http_requests' },
    {
      about: 'As Cloudflare lists them today',
      command: 'obsiac logpush fields http_requests --live --zone 023e105f4ecef8ad9ca31a8372d0c353',
    },
  ],
  run: async (args, context) => {
    const dataset = args.positional(0) ?? '';
    if (!/^\w+$/.test(dataset)) throw usageFailure(`DATASET is not the name of a dataset: ${dataset}`);
    let fields: readonly Field[];
    if (args.has('live')) {
      const client = await openLogpush(args, context, scopeOf(args, context, dataset));
      fields = Object.entries(await client.fields(dataset)).map(([name, text]) => liveField(name, text));
    } else {
      fields = knownFields(dataset, args.has('legacy'));
    }
    context.view.say({
      stream: 'out',
      json: () => fields.map((field) => ({ type: 'logpush_field', message: field.name, dataset, ...field })),
      human: (style) =>
        tableText(
          ['FIELD', 'TYPE', 'DESCRIPTION'],
          fields.map(({ name, field_type, description, deprecated, legacy }) => [
            name,
            field_type,
            `${deprecated ? '(deprecated) ' : legacy ? '(of old jobs) ' : ''}${description}`,
          ]),
          style,
          { fit: context.terminal.live },
        ),
    });
    return EXIT.ok;
  },
};
