/** `obsiac help [COMMAND...]`, and what `--help` shows. */
import { COMMON_OPTIONS } from '../arguments/option.ts';
import { EXIT, EXIT_MEANING, type Outcome } from '../exit-code.ts';
import { usageFailure } from '../failure.ts';
import { commandHelp, exitTable, groupHelp, rootHelp } from '../views/help.ts';
import { result } from '../views/messages.ts';
import type { Style } from '../views/style.ts';
import type { Message } from '../views/view.ts';
import { type Command, type CommandGroup, type CommandNode, isGroup } from './command.ts';

/** The help of a command, a group, or (null) of obsiac. */
export function helpShown(about: Command | CommandGroup | null, tree: readonly CommandNode[]): Message {
  const draw = (style: Style) => {
    if (about === null) return rootHelp(tree, style);
    return 'commands' in about ? groupHelp(about, style) : commandHelp(about, style);
  };
  return result(
    { type: 'help', message: `Help for obsiac${about === null ? '' : ` ${about.name}`}`, ...helpJson(about, tree) },
    draw,
  );
}

function helpJson(about: Command | CommandGroup | null, tree: readonly CommandNode[]) {
  if (about === null || 'commands' in about) {
    return { commands: (about?.commands ?? tree).map(({ name, summary }) => ({ name, summary })) };
  }
  return {
    command: about.name,
    about: about.about,
    options: about.options.map(({ name, aliases, value, summary }) => ({ name, aliases, value, summary })),
    arguments: about.positionals.map(({ name, required, summary }) => ({ name, required, summary })),
    examples: about.examples,
  };
}

function exitCodesShown(): Message {
  const outcomes = Object.entries(EXIT) as [Outcome, number][];
  return result(
    {
      type: 'help',
      message: 'Exit codes',
      exit_codes: outcomes.map(([outcome, code]) => ({ code, outcome, meaning: EXIT_MEANING[outcome] })),
    },
    (style) => `${style.strong('Exit codes:')}\n${exitTable(Object.keys(EXIT) as Outcome[], style)}\n`,
  );
}

export const help: Command = {
  name: 'help',
  summary: 'Show help for a command',
  usage: ['help [COMMAND [SUBCOMMAND]]'],
  exits: ['ok', 'invalid'],
  about: ['Shows what obsiac does, or what one command does. `help exit-codes` lists the exit codes.'],
  options: COMMON_OPTIONS,
  positionals: [
    { name: 'COMMAND', required: false, summary: 'The command, for example plan or state' },
    { name: 'SUBCOMMAND', required: false, summary: 'The command under it, for example list' },
  ],
  examples: [
    { about: 'All commands', command: 'obsiac help' },
    { about: 'One command', command: 'obsiac help state list' },
    { about: 'What each exit code means', command: 'obsiac help exit-codes' },
  ],
  run: async (args, { view, tree }) => {
    const [first, second] = [args.positional(0), args.positional(1)];
    if (first === undefined) {
      view.say(helpShown(null, tree));
    } else if (first === 'exit-codes') {
      view.say(exitCodesShown());
    } else {
      view.say(helpShown(await lookUp(tree, first, second), tree));
    }
    return EXIT.ok;
  },
};

async function lookUp(
  tree: readonly CommandNode[],
  first: string,
  second: string | undefined,
): Promise<Command | CommandGroup> {
  const node = tree.find(({ name }) => name === first);
  if (node === undefined) {
    throw usageFailure(`There is no command "${first}"`, 'Run "obsiac help" for the list.');
  }
  if (!isGroup(node)) {
    return node.load();
  }
  const entry = node.commands.find(({ name }) => name === second);
  if (second !== undefined && entry === undefined) {
    throw usageFailure(`There is no command "${first} ${second}"`, `Run "obsiac help ${first}" for the list.`);
  }
  return entry === undefined ? node : entry.load();
}
