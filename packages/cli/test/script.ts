/**
 * Golden scripts of the command line: a text with files, command lines, and what each prints and exits with.
 *
 * ```text
 * A sentence on what it shows.
 *
 * $ obsiac -mf model.yaml validate
 * > a line of standard output
 * ! a line of standard error
 * = 0
 *
 * -- model.yaml --
 * entities: []
 * ```
 *
 * `UPDATE=1` writes what was printed into the script instead of comparing. A line `$ NAME=value obsiac …` sets variables,
 * `$ rm FILE`, `$ cp FILE FILE`, `$ cat FILE` do what they say.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunResult } from './run-cli.ts';

interface Step {
  readonly command: string;
  readonly expected: string;
}

export interface Script {
  readonly head: string;
  readonly steps: readonly Step[];
  readonly files: ReadonlyMap<string, string>;
}

const FILE_MARK = /^-- (\S+) --$/;

export function readScript(text: string): Script {
  const lines = text.split('\n');
  const firstFile = lines.findIndex((line) => FILE_MARK.test(line));
  const body = firstFile < 0 ? lines : lines.slice(0, firstFile);
  const head: string[] = [];
  const steps: { command: string; expected: string[] }[] = [];
  for (const line of body) {
    if (line.startsWith('$ ')) {
      steps.push({ command: line.slice(2), expected: [] });
    } else if (steps.length === 0) {
      head.push(line);
    } else if (/^[>!=]/.test(line)) {
      steps.at(-1)?.expected.push(line);
    }
  }
  return {
    head: head.join('\n').trimEnd(),
    steps: steps.map(({ command, expected }) => ({ command, expected: expected.join('\n') })),
    files: readFiles(firstFile < 0 ? [] : lines.slice(firstFile)),
  };
}

function readFiles(lines: readonly string[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  let name = '';
  for (const line of lines) {
    const mark = FILE_MARK.exec(line);
    if (mark?.[1] !== undefined) {
      name = mark[1];
      files.set(name, '');
    } else {
      files.set(name, `${files.get(name)}${line}\n`);
    }
  }
  // The end of the script is not a part of its last file.
  const last = files.get(name);
  if (last !== undefined) files.set(name, last.replace(/\n$/, ''));
  return files;
}

/** The script with the results in the place of what was expected. */
export function writeScript(script: Script, results: readonly string[]): string {
  const steps = script.steps.map(({ command }, index) => `$ ${command}\n${results[index]}`.trimEnd());
  const files = [...script.files].map(([name, text]) => `-- ${name} --\n${text}`);
  return `${[script.head, ...steps].filter((part) => part !== '').join('\n\n')}\n${files.length > 0 ? `\n${files.join('')}` : ''}`;
}

/** Splits a command line as a shell would: spaces, single and double quotes, backslashes. */
function splitWords(line: string): readonly string[] {
  const words: string[] = [];
  for (const match of line.matchAll(/(?:'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+))(\s*)/g)) {
    const [, single, double, escaped, plain, space] = match;
    const piece = single ?? double?.replace(/\\(.)/g, '$1') ?? escaped ?? plain ?? '';
    words.push((words.pop() ?? '') + piece);
    if (space !== '') words.push('');
  }
  return words.at(-1) === '' && /\s$/.test(line) ? words.slice(0, -1) : words;
}

export interface Sandbox {
  /** Where the files of the script lie. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly run: (argv: readonly string[], env: Readonly<Record<string, string>>) => Promise<RunResult>;
  /** Replaces what differs from run to run, such as ports and times. */
  readonly normalise: (text: string) => string;
}

/** Lays out the files and runs every step; gives the printed form of each. */
export async function runScript(script: Script, sandbox: Sandbox): Promise<readonly string[]> {
  for (const [name, text] of script.files) {
    const file = path.join(sandbox.directory, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const results: string[] = [];
  for (const { command } of script.steps) {
    results.push(await runStep(command, sandbox));
  }
  return results;
}

async function runStep(command: string, sandbox: Sandbox): Promise<string> {
  const words = [...splitWords(command)];
  const env: Record<string, string> = { ...sandbox.env };
  while (/^[A-Z_]+=/.test(words[0] ?? '')) {
    const [name = '', ...value] = (words.shift() ?? '').split('=');
    env[name] = value.join('=');
  }
  const [program, ...rest] = words;
  const inside = (name = '') => path.join(sandbox.directory, name);
  switch (program) {
    case 'obsiac':
      return printed(await sandbox.run(rest, env), sandbox.normalise);
    case 'cat':
      return printed({ code: 0, stdout: readFileSync(inside(rest[0]), 'utf8'), stderr: '' }, sandbox.normalise);
    case 'rm':
      rmSync(inside(rest[0]), { recursive: true });
      return '= 0';
    case 'cp':
      cpSync(inside(rest[0]), inside(rest[1]));
      return '= 0';
    default:
      throw new Error(`a script runs obsiac, cat, rm or cp, not ${program}`);
  }
}

function printed({ code, stdout, stderr }: RunResult, normalise: (text: string) => string): string {
  const lines = (text: string, mark: string) =>
    text === ''
      ? []
      : normalise(text)
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => `${mark} ${line}`.trimEnd());
  return [...lines(stdout, '>'), ...lines(stderr, '!'), `= ${code}`].join('\n');
}

/**
 * What differs from machine to machine in any output: the sandbox, versions, times, who holds a lock. Lines are broken
 * before this, so a sandbox's path must always have the same length.
 */
export function normaliseCommon(text: string, directory: string): string {
  return text
    .replaceAll(directory, '$WORK')
    .replace(/"@timestamp":"[^"]*"/g, '"@timestamp":"TIME"')
    .replace(/"lock":\{[^{}]*\}/g, '"lock":"LOCK"')
    .replace(/Node\.js \d+\.\d+\.\d+, [\w-]+/g, 'Node.js VERSION, PLATFORM')
    .replace(/"node":"[^"]*","platform":"[^"]*"/g, '"node":"VERSION","platform":"PLATFORM"');
}
