/** `obsiac logpush datasets`: what can be delivered. */
import { DATASETS } from '@obsiac/model';
import { COMMON_OPTIONS } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { API_OPTIONS, openLogpush, SCOPE_OPTIONS, scopeOf } from '../logpush/access.ts';
import type { LogpushClient, LogpushError } from '../logpush/client.ts';
import { tableText } from '../views/table.ts';
import type { Command } from './command.ts';

const SCOPES = { zone: 'zone', account: 'account', both: 'zone, account' } as const;
/** Requests to Cloudflare at once; it limits a user to 1,200 in five minutes. */
const AT_ONCE = 4;

type Availability = { readonly available: boolean; readonly reason?: string };

/** Whether Cloudflare lists the fields of a dataset to these credentials, which it does when they may have jobs for it. */
async function availabilityOf(client: LogpushClient, dataset: string): Promise<Availability> {
  try {
    await client.fields(dataset);
    return { available: true };
  } catch (error) {
    if ((error as Error).name !== 'LogpushError') throw error;
    const { code, message } = error as LogpushError;
    if (code === 'logpush_unavailable' || code === 'logpush_credentials_refused') throw error;
    return { available: false, reason: message };
  }
}

async function availabilities(
  client: LogpushClient,
  datasets: readonly string[],
): Promise<ReadonlyMap<string, Availability>> {
  const found = new Map<string, Availability>();
  const rest = [...datasets];
  const work = async () => {
    for (let dataset = rest.shift(); dataset !== undefined; dataset = rest.shift()) {
      found.set(dataset, await availabilityOf(client, dataset));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return found;
}

export const logpushDatasets: Command = {
  name: 'logpush datasets',
  summary: 'List the datasets that can be delivered',
  usage: ['logpush datasets [options]', 'logpush datasets --live --zone ID [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Lists the datasets that are known here, with the scope of their jobs, how many fields they have, and the field that holds the time. It asks nobody.',
    'With --live it asks Cloudflare which of them the zone or the account has for these credentials.',
  ],
  options: [
    { name: 'live', summary: 'Ask Cloudflare which of them can be had.' },
    ...SCOPE_OPTIONS,
    ...API_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  positionals: [],
  examples: [
    { about: 'All that are known', command: 'obsiac logpush datasets' },
    { about: 'What a zone has', command: 'obsiac logpush datasets --live --zone 023e105f4ecef8ad9ca31a8372d0c353' },
  ],
  run: async (args, context) => {
    const scope = args.has('live') || args.has('zone') || args.has('account') ? scopeOf(args, context) : undefined;
    const kind = scope && ('zone_id' in scope ? 'zone' : 'account');
    const listed = Object.entries(DATASETS).filter(
      ([, { scope: of }]) => kind === undefined || of === 'both' || of === kind,
    );
    const live =
      args.has('live') && scope !== undefined
        ? await availabilities(
            await openLogpush(args, context, scope),
            listed.map(([name]) => name),
          )
        : undefined;
    const datasets = listed.map(([dataset, { scope: of, fields, timestamp_field }]) => ({
      dataset,
      scope: of,
      fields: Object.values(fields).filter(({ legacy }) => !legacy).length,
      timestamp_field,
      ...live?.get(dataset),
    }));
    context.view.say({
      stream: 'out',
      json: () => datasets.map((one) => ({ type: 'logpush_dataset', message: one.dataset, ...one })),
      human: (style) =>
        tableText(
          ['DATASET', 'SCOPE', 'FIELDS', 'TIME', ...(live ? ['AVAILABLE'] : [])],
          datasets.map((one) => [
            one.dataset,
            SCOPES[one.scope],
            String(one.fields),
            one.timestamp_field,
            ...(live ? [one.available === true ? 'yes' : `no: ${one.reason ?? ''}`] : []),
          ]),
          style,
        ),
    });
    return EXIT.ok;
  },
};
