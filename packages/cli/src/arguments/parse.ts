/** Reads a command line: finds the command among the flags, then reads the flags strictly by the command's own table. */
import { dashed, LEADING_OPTIONS, namesOf, type Option } from './option.ts';
import { durationInMs } from './value.ts';

/** A positional argument, for example `ADDRESS`. */
export interface Positional {
  readonly name: string;
  readonly required: boolean;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly complete?: 'file';
}

/** What a command accepts. */
export interface Accepts {
  readonly options: readonly Option[];
  readonly positionals: readonly Positional[];
}

/** A command line after reading; asking for an option that the command does not declare is a bug. */
export interface Arguments {
  /** Whether the command has such an option at all. */
  declares(option: string): boolean;
  has(option: string): boolean;
  text(option: string): string | undefined;
  texts(option: string): readonly string[];
  /** Milliseconds for a duration. */
  number(option: string): number | undefined;
  /** By position, from 0. */
  positional(index: number): string | undefined;
}

/** One thing wrong with a command line. `unknown`: a word that is none of `candidates`, for a suggestion. */
export interface UsageProblem {
  readonly sentence: string;
  readonly unknown?: { readonly word: string; readonly candidates: readonly string[] };
}

/** Splits `--name=value`; null for anything that is not an option: a lone `-` and a negative number are values. */
function splitOption(token: string): { readonly name: string; readonly value?: string } | null {
  const match = /^--?([^-=\d][^=]*)(?:=(.*))?$/s.exec(token);
  const name = match?.[1];
  if (name === undefined) {
    return null;
  }
  return match?.[2] === undefined ? { name } : { name, value: match[2] };
}

function findOption(options: readonly Option[], name: string): Option | undefined {
  return options.find((option) => namesOf(option).includes(name));
}

/** Where the word that names the command stands in `argv`, or -1. `isCommand` tells command names from other words. */
export function findCommandWord(argv: readonly string[], isCommand: (word: string) => boolean): number {
  for (let index = 0; index < argv.length; index++) {
    const token = argv[index] ?? '';
    if (token === '--') {
      return -1;
    }
    const written = splitOption(token);
    if (written === null) {
      return index;
    }
    const option = findOption(LEADING_OPTIONS, written.name);
    const next = argv[index + 1];
    const takesNext =
      option === undefined
        ? next !== undefined && splitOption(next) === null && !isCommand(next) && argv.slice(index + 2).some(isCommand)
        : option.value !== undefined;
    if (takesNext && written.value === undefined) {
      index++;
    }
  }
  return -1;
}

class Reading implements Arguments {
  readonly #accepts: Accepts;
  readonly #values = new Map<string, string[]>();
  readonly positionals: string[] = [];
  readonly problems: UsageProblem[] = [];

  constructor(accepts: Accepts) {
    this.#accepts = accepts;
  }

  read(argv: readonly string[]): void {
    for (let index = 0; index < argv.length; index++) {
      const token = argv[index] ?? '';
      if (token === '--') {
        this.positionals.push(...argv.slice(index + 1));
        return;
      }
      const written = splitOption(token);
      if (written === null) {
        this.positionals.push(token);
      } else if (this.#readOption(written, argv[index + 1])) {
        index++;
      }
    }
  }

  /** True when the next word was the value. */
  #readOption(written: { readonly name: string; readonly value?: string }, next: string | undefined): boolean {
    const option = findOption(this.#accepts.options, written.name);
    if (option === undefined) {
      this.#unknown(written.name);
      return false;
    }
    if (option.value === undefined) {
      this.#readSwitch(option, written);
      return false;
    }
    if (written.value !== undefined) {
      this.#take(option, written.name, written.value);
      return false;
    }
    if (next === undefined || splitOption(next) !== null) {
      this.#problem(`${dashed(written.name)} needs a value: ${dashed(written.name)} ${option.value}.`);
      return false;
    }
    this.#take(option, written.name, next);
    return true;
  }

  #readSwitch(option: Option, written: { readonly name: string; readonly value?: string }): void {
    if (written.value === undefined || written.value === 'true') {
      this.#values.set(option.name, ['true']);
    } else if (written.value === 'false') {
      this.#values.delete(option.name);
    } else {
      this.#problem(`${dashed(written.name)} is a switch: leave "=${written.value}" out.`);
    }
  }

  #take(option: Option, written: string, value: string): void {
    const before = this.#values.get(option.name) ?? [];
    if (before.length > 0 && option.repeatable !== true) {
      this.#problem(`${dashed(written)} is given twice; it takes one value.`);
    } else if (value === '') {
      this.#problem(`${dashed(written)} needs a value; it is empty.`);
    } else if (option.kind === 'integer' && !/^\d{1,9}$/.test(value)) {
      this.#problem(`${dashed(written)} needs a whole number; "${value}" is none.`);
    } else if (option.kind === 'duration' && durationInMs(value) === null) {
      this.#problem(`${dashed(written)} needs a duration such as 30s, 5m or 1h30m; "${value}" is none.`);
    } else if (Array.isArray(option.complete) && !option.complete.includes(value)) {
      this.#problem(`${dashed(written)} is one of ${option.complete.join(', ')}; "${value}" is not.`);
    } else {
      this.#values.set(option.name, [...before, value]);
    }
  }

  #unknown(name: string): void {
    const candidates = this.#accepts.options.flatMap(namesOf).map(dashed);
    this.problems.push({
      sentence: `There is no flag ${dashed(name)} here.`,
      unknown: { word: dashed(name), candidates },
    });
  }

  #problem(sentence: string): void {
    this.problems.push({ sentence });
  }

  checkPositionals(): void {
    const { positionals } = this.#accepts;
    for (const extra of this.positionals.slice(positionals.length)) {
      const hint = /\.ya?ml$/.test(extra) ? ' A model file follows -mf; put a pattern in quotes, or repeat -mf.' : '';
      this.#problem(`"${extra}" is one argument too many.${hint}`);
    }
    positionals.forEach((positional, index) => {
      const value = this.positionals[index];
      if (value === undefined && positional.required) {
        const choices = positional.choices === undefined ? '' : ` (${positional.choices.join(', ')})`;
        this.#problem(`${positional.name}${choices} is missing: ${positional.summary}`);
      } else if (value !== undefined && positional.choices?.includes(value) === false) {
        this.problems.push({
          sentence: `${positional.name} is one of ${positional.choices.join(', ')}; "${value}" is not.`,
          unknown: { word: value, candidates: positional.choices },
        });
      }
    });
  }

  declares(name: string): boolean {
    return this.#accepts.options.some((option) => option.name === name);
  }

  #valuesOf(name: string): readonly string[] {
    if (!this.declares(name)) {
      throw new Error(`the command does not declare the option ${name}`);
    }
    return this.#values.get(name) ?? [];
  }

  has(name: string): boolean {
    return this.#valuesOf(name).length > 0;
  }

  text(name: string): string | undefined {
    return this.#valuesOf(name)[0];
  }

  texts(name: string): readonly string[] {
    return this.#valuesOf(name);
  }

  number(name: string): number | undefined {
    const value = this.text(name);
    const option = this.#accepts.options.find((candidate) => candidate.name === name);
    if (value === undefined) {
      return undefined;
    }
    return option?.kind === 'duration' ? (durationInMs(value) ?? undefined) : Number(value);
  }

  positional(index: number): string | undefined {
    return this.positionals[index];
  }
}

/** Reads the words after the command's name was taken out. When there are no `problems` the rest is usable. */
export function parseArguments(
  accepts: Accepts,
  argv: readonly string[],
): { readonly args: Arguments; readonly problems: readonly UsageProblem[] } {
  const reading = new Reading(accepts);
  reading.read(argv);
  if (!reading.has('help')) {
    reading.checkPositionals();
  }
  return { args: reading, problems: reading.problems };
}

/** Whether a switch stands in `argv`, without knowing the command: for `--json` and `--no-color`, which shape even a usage error. */
export function mentions(argv: readonly string[], name: string): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).some((token) => {
    const written = splitOption(token);
    return written?.name === name && written.value !== 'false';
  });
}

/** The value of an option wherever it stands in `argv`, without knowing the command; undefined when there is none. */
export function mentionedText(argv: readonly string[], name: string): string | undefined {
  const index = argv.findIndex((token) => splitOption(token)?.name === name);
  const value = splitOption(argv[index] ?? '')?.value ?? argv[index + 1];
  return index < 0 || value === undefined || value === '' || splitOption(value) !== null ? undefined : value;
}
