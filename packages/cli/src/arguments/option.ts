/** What an option of the command line is, and the options that several commands have in common. */

type ValueKind = 'text' | 'integer' | 'duration';

/** One option. Every name may be written with one dash or two, with its value after a space or after `=`. */
export interface Option {
  /** Long name without dashes, for example `model-file`. */
  readonly name: string;
  /** Other names without dashes, for example `mf`. */
  readonly aliases?: readonly string[];
  /** Placeholder of the value in help; absent for a switch. */
  readonly value?: string;
  readonly kind?: ValueKind;
  /** Given more than once, the values add up. */
  readonly repeatable?: boolean;
  /** What a shell completes the value with. */
  readonly complete?: 'file' | readonly string[];
  readonly summary: string;
}

export const MODEL_FILE: Option = {
  name: 'model-file',
  aliases: ['mf'],
  value: 'PATH',
  repeatable: true,
  complete: 'file',
  summary:
    'Model file; also a directory or a quoted pattern, whose *.yaml and *.yml files are read as one model. Repeatable.',
};

/** `-mf` of commands that read no model. */
export const MODEL_PLACE: Option = {
  ...MODEL_FILE,
  summary: 'Where the model lies. Only needed when the state lies beside the model and not beside the config.',
};

export const CONFIG: Option = {
  name: 'config',
  aliases: ['c'],
  value: 'PATH',
  complete: 'file',
  summary: 'Config file with the address, the organisation and the tokens of the service.',
};

export const YES: Option = {
  name: 'yes',
  aliases: ['y', 'auto-approve'],
  summary: 'Do not ask for confirmation.',
};

export const ALLOW_MASS_DELETE: Option = {
  name: 'allow-mass-delete',
  summary: 'Allow a plan that deletes everything, or more than half of what the state manages.',
};

export const ACCEPT_MOVES: Option = {
  name: 'accept-moves',
  summary: 'Take every suggested rename as if the model had it under `moved`.',
};

export const CONCURRENCY: Option = {
  name: 'concurrency',
  aliases: ['parallelism'],
  value: 'N',
  kind: 'integer',
  summary: 'Requests in flight at once, 1 to 256 (default 16).',
};

export const LOCK_TIMEOUT: Option = {
  name: 'lock-timeout',
  value: 'DURATION',
  kind: 'duration',
  summary: 'How long to wait for the state lock, for example 30s or 5m (default 0s: do not wait).',
};

export const COMPACT_WARNINGS: Option = {
  name: 'compact-warnings',
  summary: 'Show each warning on one line, without its source.',
};

/** Options that every command has. */
export const COMMON_OPTIONS: readonly Option[] = [
  { name: 'help', aliases: ['h'], summary: 'Show help for the command.' },
  { name: 'json', summary: 'Write one JSON event a line instead of text. The last event carries the exit code.' },
  {
    name: 'json-into',
    value: 'FILE',
    complete: 'file',
    summary: 'Write the JSON events into FILE as well as text on the screen.',
  },
  { name: 'no-color', summary: 'No colours, even on a terminal. NO_COLOR in the environment does the same.' },
];

/** Options that may stand before the name of the command even though only some commands take them. */
export const LEADING_OPTIONS: readonly Option[] = [
  ...COMMON_OPTIONS,
  MODEL_FILE,
  CONFIG,
  YES,
  ALLOW_MASS_DELETE,
  ACCEPT_MOVES,
  CONCURRENCY,
  LOCK_TIMEOUT,
  COMPACT_WARNINGS,
];

/** Every way to write the name of an option, without dashes. */
export function namesOf(option: Option): readonly string[] {
  return [option.name, ...(option.aliases ?? [])];
}

/** How help and messages write a name: one dash for the short ones that people know with one. */
export function dashed(name: string): string {
  return name.length <= 2 ? `-${name}` : `--${name}`;
}
