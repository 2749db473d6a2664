/** `obsiac completion bash|zsh|fish`: completion scripts, made from the command tree. */
import { COMMON_OPTIONS } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { type CommandWords, completionScript, SHELLS, type Shell } from '../views/completion.ts';
import { result } from '../views/messages.ts';
import { type Command, type CommandNode, isGroup } from './command.ts';

/** Loads every command of the tree, to know its options. */
async function readTree(tree: readonly CommandNode[]): Promise<readonly CommandWords[]> {
  const entries = tree.flatMap((node) =>
    isGroup(node)
      ? node.commands.map((entry) => ({ path: [node.name, entry.name], entry }))
      : [{ path: [node.name], entry: node }],
  );
  return Promise.all(
    entries.map(async ({ path, entry }) => {
      const { options, positionals } = await entry.load();
      return { path, summary: entry.summary, options, positionals };
    }),
  );
}

export const completion: Command = {
  name: 'completion',
  summary: 'Print a completion script for a shell',
  usage: ['completion bash|zsh|fish'],
  exits: ['ok', 'invalid'],
  about: [
    'Prints a script that lets the shell complete commands, flags and files. It is made from the commands themselves, so print it anew after an update.',
  ],
  options: COMMON_OPTIONS,
  positionals: [{ name: 'SHELL', required: true, summary: 'bash, zsh or fish', choices: SHELLS }],
  examples: [
    { about: 'bash, for this session', command: 'source <(obsiac completion bash)' },
    { about: 'zsh, in a directory of $fpath', command: 'obsiac completion zsh > ~/.zfunc/_obsiac' },
    { about: 'fish', command: 'obsiac completion fish > ~/.config/fish/completions/obsiac.fish' },
  ],
  run: async (args, { view, tree }) => {
    const shell = args.positional(0) as Shell;
    const script = completionScript(shell, await readTree(tree));
    view.say(result({ type: 'completion', message: `Completion for ${shell}`, shell, script }, () => script));
    return EXIT.ok;
  },
};
