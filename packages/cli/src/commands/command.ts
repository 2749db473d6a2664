/** What a command is. Each lives in one file of this folder and has one line in `registry.ts`. */
import type { Accepts, Arguments } from '../arguments/parse.ts';
import type { ExitCode, Outcome } from '../exit-code.ts';
import type { Terminal } from '../views/terminal.ts';
import type { View } from '../views/view.ts';

interface Example {
  /** What it does, as a short line. */
  readonly about: string;
  readonly command: string;
}

/** Everything outside the command that it may use. */
export interface Context {
  /** Paths that the user wrote are relative to this. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly view: View;
  readonly terminal: Terminal;
  /** Aborted by the first interrupt: finish what is in flight, save, and end. */
  readonly cancelled: AbortSignal;
  /** Aborted by the second interrupt: drop what is in flight. */
  readonly aborted: AbortSignal;
  /** The words of the command line, for commands to copy. */
  readonly argv: readonly string[];
  /** All commands, for help and completion. */
  readonly tree: readonly CommandNode[];
}

export interface Command extends Accepts {
  /** With its group, for example `state list`. */
  readonly name: string;
  /** One line for lists of commands. */
  readonly summary: string;
  /** How it is written, without `obsiac`: one form or several. */
  readonly usage: readonly string[];
  /** How it can end. */
  readonly exits: readonly Outcome[];
  /** Paragraphs for `--help`. */
  readonly about: readonly string[];
  readonly examples: readonly Example[];
  run(args: Arguments, context: Context): Promise<ExitCode>;
}

/** A command in the tree; the file behind it is read only when it is needed. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

/** Commands under one word, for example `state`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CommandEntry[];
}

export type CommandNode = CommandEntry | CommandGroup;

export function isGroup(node: CommandNode): node is CommandGroup {
  return 'commands' in node;
}
