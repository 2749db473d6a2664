/** `obsiac-service`: command line in, exit code out. The one place where an error becomes a sentence on the terminal. */
import { parseArgs } from 'node:util';
import { nearest } from '@obsiac/promql';
import { ListenError } from './app.ts';
import { HELP, INTAKE_HELP, SERVE_HELP, TOKEN_HELP } from './help.ts';
import { DataDirLocked } from './installation/data-dir-lock.ts';
import { intakeCommand } from './intake-command.ts';
import { MigrationError } from './metadata/migrate.ts';
import { Refusal } from './refusal.ts';
import { SecretKeyError } from './secrets/vault.ts';
import { serve } from './serve.ts';
import { flagOf, SETTING_NAMES } from './settings/definition.ts';
import { loadSettings, SettingsError } from './settings/load.ts';
import { tokenCommand } from './token-command.ts';
import { VERSION } from './version.ts';

const EXIT_ERROR = 1;
const EXIT_USAGE = 3;

const COMMANDS = ['serve', 'token', 'intake', 'version', 'help'];

/** Errors that tell a person what to do; anything else is a bug and keeps its stack. */
const EXPECTED = [ListenError, DataDirLocked, MigrationError, SecretKeyError, Refusal];

class UsageError extends Error {
  readonly code = 'usage';
}

/** Runs one command and sets the exit code of the process. */
export async function run(argv: readonly string[]): Promise<void> {
  try {
    await dispatch(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): number {
  if (error instanceof UsageError) {
    say(`${error.message}\nSee obsiac-service --help`);
    return EXIT_USAGE;
  }
  if (error instanceof SettingsError) {
    say(error.problems.map((problem) => `Bad setting: ${problem}`).join('\n'));
    return EXIT_USAGE;
  }
  if (EXPECTED.some((known) => error instanceof known)) {
    say((error as Error).message);
    return EXIT_ERROR;
  }
  const { code, message, stack } = error as NodeJS.ErrnoException;
  // A host with several addresses gives one error for each, and an empty sentence for all.
  const sentence = message || (error as { errors?: readonly Error[] }).errors?.[0]?.message;
  say(code ? `Cannot go on: ${sentence}` : `This is a bug in obsiac-service:\n${stack ?? String(error)}`);
  return EXIT_ERROR;
}

async function dispatch(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parse(argv);
  const [command, ...rest] = positionals;
  if (values['version'] === true || command === 'version') return print(`obsiac-service ${VERSION}\n`);
  if (values['help'] === true || command === undefined || command === 'help') return print(helpFor(command));
  if (!COMMANDS.includes(command)) {
    throw new UsageError(`There is no command "${command}".${meant(command, COMMANDS)}`);
  }
  const { config, scope, name, username, 'no-logs': noLogs, ...given } = values as Record<string, string | undefined>;
  const flags = noLogs === undefined ? given : { ...given, logs: 'false' };
  const settings = loadSettings({ flags, environment: process.env, file: config });
  if (command === 'serve') {
    if (rest.length > 0) throw new UsageError(`serve takes no argument, and got "${rest[0]}".`);
    if (scope ?? name) throw new UsageError('--scope and --name belong to obsiac-service token.');
    if (username) throw new UsageError('--username belongs to obsiac-service intake.');
    return serve(settings);
  }
  const outcome =
    command === 'token'
      ? await tokenCommand(settings, rest, { scope, name })
      : await intakeCommand(settings, rest, { username });
  if ('usage' in outcome) throw new UsageError(outcome.usage);
  print(outcome.text);
}

function parse(argv: readonly string[]) {
  const flags = SETTING_NAMES.map(flagOf).filter((flag) => flag !== undefined);
  const names = [...flags, 'config', 'scope', 'name', 'username'];
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {
    ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean' },
    'no-logs': { type: 'boolean' },
  };
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true });
  } catch (error) {
    const unknown = /Unknown option '--?([^']*)'/.exec((error as Error).message)?.[1];
    if (unknown === undefined) throw new UsageError((error as Error).message.replace(/\n[\s\S]*/, ''));
    throw new UsageError(`There is no flag --${unknown}.${meant(unknown, Object.keys(options), '--')}`);
  }
}

function meant(name: string, candidates: readonly string[], dashes = ''): string {
  const candidate = nearest(name, candidates);
  return candidate === undefined ? '' : ` Did you mean ${dashes}${candidate}?`;
}

function helpFor(command: string | undefined): string {
  if (command === 'serve') return SERVE_HELP;
  if (command === 'intake') return INTAKE_HELP;
  return command === 'token' ? TOKEN_HELP : HELP;
}

function print(text: string): void {
  process.stdout.write(text);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
