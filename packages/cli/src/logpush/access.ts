/** Who asks Cloudflare and about what: credentials from the environment or from files, the zone or the account. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DATASETS } from '@obsiac/model';
import type { Option } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import type { Context } from '../commands/command.ts';
import { EXIT } from '../exit-code.ts';
import { Failure, usageFailure } from '../failure.ts';
import { reasonFor } from '../project/file-reason.ts';
import type { LogpushClient, LogpushSettings, Scope } from './client.ts';

export const SCOPE_OPTIONS: readonly Option[] = [
  { name: 'zone', value: 'ID', summary: 'The zone whose jobs are meant (default: CLOUDFLARE_ZONE_ID).' },
  { name: 'account', value: 'ID', summary: 'The account whose jobs are meant (default: CLOUDFLARE_ACCOUNT_ID).' },
];

export const API_OPTIONS: readonly Option[] = [
  {
    name: 'api-url',
    value: 'ADDRESS',
    summary: "Base address of Cloudflare's API (default https://api.cloudflare.com/client/v4).",
  },
  {
    name: 'token-file',
    value: 'FILE',
    complete: 'file',
    summary: 'A file that holds the API token (default: CLOUDFLARE_API_TOKEN in the environment).',
  },
  {
    name: 'key-file',
    value: 'FILE',
    complete: 'file',
    summary: 'A file that holds the API key that goes with CLOUDFLARE_EMAIL (default: CLOUDFLARE_API_KEY).',
  },
];

export const PUBLIC_API = 'https://api.cloudflare.com/client/v4';

/** The text of a file that holds one secret, without the line end. */
export function readSecretFile(file: string, option: string, cwd: string): string {
  let text: string;
  try {
    text = readFileSync(path.resolve(cwd, file), 'utf8').trim();
  } catch (error) {
    throw new Failure(EXIT.invalid, {
      code: 'secret_unreadable',
      summary: `The file ${file} of --${option} cannot be read`,
      detail: reasonFor(error as NodeJS.ErrnoException),
    });
  }
  if (text === '' || /[\r\n]/.test(text)) {
    throw usageFailure(
      `The file ${file} of --${option} does not hold one secret`,
      'It holds one line with the secret.',
    );
  }
  return text;
}

/** A variable that is set and not empty. */
export function variable(context: Context, name: string): string | undefined {
  const value = context.env[name];
  return value === undefined || value === '' ? undefined : value;
}

/** The zone or the account of this run; fits the scope of `dataset` when that is known. */
export function scopeOf(args: Arguments, context: Context, dataset?: string): Scope {
  const [zone, account] = [args.text('zone'), args.text('account')];
  if (zone !== undefined && account !== undefined) {
    throw usageFailure('--zone and --account exclude each other', 'A job belongs to a zone or to an account.');
  }
  const wanted = dataset === undefined ? undefined : DATASETS[dataset]?.scope;
  if (zone === undefined && account === undefined) return scopeOfEnvironment(context, wanted);
  const given = zone === undefined ? 'account' : 'zone';
  if (wanted !== undefined && wanted !== 'both' && wanted !== given) {
    throw usageFailure(
      `${dataset} is a dataset of ${wanted === 'zone' ? 'zones' : 'accounts'}`,
      `Give --${wanted} ID in place of --${given}.`,
    );
  }
  return given === 'zone' ? { zone_id: checkedId(zone, 'zone') } : { account_id: checkedId(account, 'account') };
}

function scopeOfEnvironment(context: Context, wanted: 'zone' | 'account' | 'both' | undefined): Scope {
  const zone = variable(context, 'CLOUDFLARE_ZONE_ID');
  const account = variable(context, 'CLOUDFLARE_ACCOUNT_ID');
  if (zone !== undefined && wanted !== 'account') return { zone_id: checkedId(zone, 'zone') };
  if (account !== undefined && wanted !== 'zone') return { account_id: checkedId(account, 'account') };
  const flags = wanted === 'zone' ? '--zone ID' : wanted === 'account' ? '--account ID' : '--zone ID or --account ID';
  throw usageFailure(
    `${flags} is missing`,
    'The ids stand on the overview page of a zone in the Cloudflare dashboard. CLOUDFLARE_ZONE_ID and CLOUDFLARE_ACCOUNT_ID are taken too.',
  );
}

/** An id becomes a part of a path. */
function checkedId(id: string | undefined, kind: string): string {
  if (id !== undefined && /^[\w-]+$/.test(id)) return id;
  throw usageFailure(`--${kind} is not an id: ${id}`, 'Ids are 32 hexadecimal digits; a name or a domain is none.');
}

/** `/zones/ID` or `/accounts/ID`. */
export function scopePath(scope: Scope): string {
  return 'zone_id' in scope ? `/zones/${scope.zone_id}` : `/accounts/${scope.account_id}`;
}

export function apiUrlOf(args: Arguments): string | undefined {
  const url = args.text('api-url');
  if (url !== undefined && !/^https?:\/\/[^\s/]/.test(url)) {
    throw usageFailure(`--api-url is not an address: ${url}`, `It looks like ${PUBLIC_API}.`);
  }
  return url?.replace(/\/+$/, '');
}

type Credentials = Pick<LogpushSettings, 'token' | 'email' | 'key'>;

/** A token when there is one, else e-mail and key. */
function credentialsOf(args: Arguments, context: Context): Credentials {
  const [tokenFile, keyFile] = [args.text('token-file'), args.text('key-file')];
  const email = variable(context, 'CLOUDFLARE_EMAIL');
  if (tokenFile !== undefined) {
    return { token: readSecretFile(tokenFile, 'token-file', context.cwd), email: undefined, key: undefined };
  }
  const token = keyFile === undefined ? variable(context, 'CLOUDFLARE_API_TOKEN') : undefined;
  if (token !== undefined) return { token, email: undefined, key: undefined };
  const key =
    keyFile === undefined ? variable(context, 'CLOUDFLARE_API_KEY') : readSecretFile(keyFile, 'key-file', context.cwd);
  if (email !== undefined && key !== undefined) return { token: undefined, email, key };
  throw usageFailure(
    'Credentials for Cloudflare are missing',
    'Set CLOUDFLARE_API_TOKEN (a token with the permission "Logs: Write"), or CLOUDFLARE_EMAIL with CLOUDFLARE_API_KEY; --token-file and --key-file read them from files.',
  );
}

/** A client for the jobs of this run's zone or account. The client library is loaded here, when it is needed. */
export async function openLogpush(args: Arguments, context: Context, scope: Scope): Promise<LogpushClient> {
  const settings = { apiUrl: apiUrlOf(args), ...credentialsOf(args, context), scope, signal: context.cancelled };
  const { createLogpushClient } = await import('./client.ts');
  return createLogpushClient(settings);
}
