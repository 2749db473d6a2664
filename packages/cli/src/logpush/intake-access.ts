/** Where records are delivered and with which credentials: from the service's `intake.json`, or from options and the environment. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Option } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import type { Context } from '../commands/command.ts';
import { EXIT } from '../exit-code.ts';
import { Failure, usageFailure } from '../failure.ts';
import { reasonFor } from '../project/file-reason.ts';
import { readSecretFile, variable } from './access.ts';
import { basicAuthorization, destinationOf } from './destination.ts';

export interface Intake {
  /** Host, origin, or origin with path. */
  readonly endpoint: string;
  /** The value of the `Authorization` header. */
  readonly authorization: string;
}

/** The name under which the service's first start writes address and credentials, beside its `config.json`. */
export const INTAKE_FILE = 'intake.json';
const PASSWORD_VARIABLE = 'OBSIAC_INTAKE_PASSWORD';

export const INTAKE_OPTIONS: readonly Option[] = [
  {
    name: 'intake',
    value: 'FILE',
    complete: 'file',
    summary: 'The intake.json that the service wrote (default: the one beside the config of -c).',
  },
  {
    name: 'endpoint',
    value: 'ADDRESS',
    summary: 'Address of the intake, in place of the one in the file: logs.example.com or a whole address.',
  },
  { name: 'username', value: 'NAME', summary: 'User name of the intake, in place of the one in the file.' },
  {
    name: 'password-env',
    value: 'NAME',
    summary: `The variable that holds the password of --username (default ${PASSWORD_VARIABLE}).`,
  },
  {
    name: 'password-file',
    value: 'FILE',
    complete: 'file',
    summary: 'The file that holds the password of --username.',
  },
];

/** Throws a `Failure` that says what is missing. */
export function intakeOf(args: Arguments, context: Context): Intake {
  const credentials = credentialsOf(args, context);
  const file = intakeFile(args, context);
  const endpoint = args.text('endpoint');
  if (credentials !== undefined && endpoint !== undefined) {
    return checked({ endpoint, authorization: basicAuthorization(credentials) });
  }
  if (file === undefined) {
    throw usageFailure(
      endpoint === undefined ? 'The address of the intake is missing' : 'The credentials of the intake are missing',
      `Name the intake.json that the service wrote with --intake FILE (-c CONFIG finds it beside the config), or give --endpoint with --username and the password in ${PASSWORD_VARIABLE}.`,
    );
  }
  const written = readIntakeFile(file.absolute, file.shown);
  return checked({
    endpoint: endpoint ?? written.endpoint,
    authorization: credentials === undefined ? written.authorization : basicAuthorization(credentials),
  });
}

/** The whole address that a job delivers to. */
export function destinationFor(intake: Intake, dataset: string | undefined): string {
  return destinationOf(intake.endpoint, intake.authorization, dataset);
}

function credentialsOf(args: Arguments, context: Context) {
  const username = args.text('username');
  const [name, file] = [args.text('password-env'), args.text('password-file')];
  if (username === undefined) {
    if (name === undefined && file === undefined) return undefined;
    throw usageFailure('--username is missing', 'A password of the intake goes with a user name.');
  }
  if (username.includes(':'))
    throw usageFailure('--username has a colon', 'A user name of Basic authorization has none.');
  if (name !== undefined && file !== undefined)
    throw usageFailure('--password-env and --password-file exclude each other');
  if (file !== undefined) return { username, password: readSecretFile(file, 'password-file', context.cwd) };
  const password = variable(context, name ?? PASSWORD_VARIABLE);
  if (password === undefined) {
    throw usageFailure(
      'The password of the intake is missing',
      `The variable ${name ?? PASSWORD_VARIABLE} is not set.`,
    );
  }
  return { username, password };
}

function intakeFile(args: Arguments, context: Context): { shown: string; absolute: string } | undefined {
  const written = args.text('intake');
  if (written !== undefined) return { shown: written, absolute: path.resolve(context.cwd, written) };
  const config = args.text('config');
  if (config === undefined) return undefined;
  const shown = path.join(path.dirname(config), INTAKE_FILE);
  const absolute = path.resolve(context.cwd, shown);
  return existsSync(absolute) ? { shown, absolute } : undefined;
}

function readIntakeFile(absolute: string, shown: string): Intake {
  const refuse = (detail: string) =>
    new Failure(EXIT.invalid, {
      code: 'intake_unreadable',
      summary: `The intake file ${shown} cannot be used`,
      detail,
    });
  let document: unknown;
  try {
    document = JSON.parse(readFileSync(absolute, 'utf8'));
  } catch (error) {
    // What the JSON parser says may quote the password.
    throw refuse(error instanceof SyntaxError ? 'It is not JSON.' : reasonFor(error as NodeJS.ErrnoException));
  }
  const { endpoint, username, password, authorization } = (document ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof endpoint !== 'string' || endpoint === '') throw refuse('"endpoint" is missing.');
  if (typeof authorization === 'string' && authorization !== '') return { endpoint, authorization };
  if (typeof username !== 'string' || typeof password !== 'string') {
    throw refuse('It has neither "authorization" nor "username" and "password".');
  }
  return { endpoint, authorization: basicAuthorization({ username, password }) };
}

function checked(intake: Intake): Intake {
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(intake.endpoint) ? intake.endpoint : `https://${intake.endpoint}`;
  if (!URL.canParse(written) || !/^https?:$/.test(new URL(written).protocol)) {
    throw usageFailure(
      `The address of the intake is none: ${intake.endpoint}`,
      'Write it as logs.example.com or https://logs.example.com.',
    );
  }
  const { search, hash, username, password } = new URL(written);
  if (search !== '' || hash !== '' || username !== '' || password !== '') {
    throw usageFailure(
      'The address of the intake holds more than host and path',
      'Credentials and the path /cloudflare are added to it.',
    );
  }
  return intake;
}

/** Why Cloudflare itself could not deliver to an address that may work from here; undefined when nothing speaks against it. */
export function unreachableForCloudflare(destination: string): string | undefined {
  const { protocol, hostname } = new URL(destination);
  if (protocol !== 'https:') {
    return 'Cloudflare delivers over HTTPS only, to a publicly trusted certificate. This address is plain HTTP.';
  }
  const host = hostname.replace(/^\[|\]$/g, '');
  if (
    /^(localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|0\.0\.0\.0|::1$|f[cd][0-9a-f]{2}:|fe80:)/i.test(
      host,
    )
  ) {
    return `Cloudflare delivers over the internet; ${host} is an address of this machine or of a private network.`;
  }
  return undefined;
}
