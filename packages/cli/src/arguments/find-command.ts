/** From the words of a command line to the command they name. */
import { type CommandEntry, type CommandGroup, type CommandNode, isGroup } from '../commands/command.ts';
import { findCommandWord, type UsageProblem } from './parse.ts';

export type Found =
  | {
      readonly kind: 'command';
      readonly path: readonly string[];
      readonly entry: CommandEntry;
      readonly rest: readonly string[];
    }
  /** No command word: the root, or a group without its second word. */
  | {
      readonly kind: 'group';
      readonly path: readonly string[];
      readonly group: CommandGroup | null;
      readonly rest: readonly string[];
    }
  | { readonly kind: 'unknown'; readonly problem: UsageProblem };

function without(argv: readonly string[], index: number): readonly string[] {
  return [...argv.slice(0, index), ...argv.slice(index + 1)];
}

/** Finds the command of `argv` in `tree`; flags may stand anywhere. */
export function findCommand(tree: readonly CommandNode[], argv: readonly string[]): Found {
  return findIn(tree, argv, [], null);
}

function findIn(
  nodes: readonly CommandNode[],
  argv: readonly string[],
  path: readonly string[],
  group: CommandGroup | null,
): Found {
  const index = findCommandWord(argv, (word) => nodes.some((node) => node.name === word));
  if (index < 0) {
    return { kind: 'group', path, group, rest: argv };
  }
  const word = argv[index] ?? '';
  const node = nodes.find((candidate) => candidate.name === word);
  if (node === undefined) {
    return { kind: 'unknown', problem: unknownCommand(nodes, word, path) };
  }
  const rest = without(argv, index);
  const deeper = [...path, word];
  return isGroup(node)
    ? findIn(node.commands, rest, deeper, node)
    : { kind: 'command', path: deeper, entry: node, rest };
}

function unknownCommand(nodes: readonly CommandNode[], word: string, path: readonly string[]): UsageProblem {
  const hint = /\.ya?ml$/.test(word) ? ' A model file follows -mf; put a pattern in quotes, or repeat -mf.' : '';
  return {
    sentence: `There is no command "${[...path, word].join(' ')}".${hint}`,
    unknown: { word: [...path, word].join(' '), candidates: nodes.map((node) => [...path, node.name].join(' ')) },
  };
}
