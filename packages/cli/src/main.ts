/** From the words of a command line to an exit code. The one place that catches what commands throw. */
import { findCommand } from './arguments/find-command.ts';
import { LEADING_OPTIONS } from './arguments/option.ts';
import { mentions, parseArguments, type UsageProblem } from './arguments/parse.ts';
import type { Command, Context } from './commands/command.ts';
import { COMMANDS } from './commands/registry.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { type Outputs, openOutputs } from './outputs.ts';
import { createTerminal, type InputStream, type OutputStream } from './views/terminal.ts';

/** What the process gives to a run; tests give their own. */
export interface ProcessInterface {
  /** Without the program and the script. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** First interrupt: end gracefully. */
  readonly cancelled: AbortSignal;
  /** Second interrupt: drop what is under way. */
  readonly aborted: AbortSignal;
}

/** Runs one command line and resolves with its exit code, after all output has left. Never rejects. */
export async function main(io: ProcessInterface): Promise<ExitCode> {
  const terminal = createTerminal(io, mentions(io.argv, 'no-color'));
  const outputs = await openOutputs(io, terminal);
  let code: ExitCode;
  try {
    outputs.throwIfUnusable();
    const { argv, cwd, env, cancelled, aborted } = io;
    const context = { argv, cwd, env, terminal, cancelled, aborted, view: outputs.view, tree: COMMANDS };
    code = await runCommandLine(outputs, context);
  } catch (error) {
    const { tellFailure } = await import('./translate-error.ts');
    code = tellFailure(error, outputs.view, {
      debug: (io.env['OBSIAC_DEBUG'] ?? '') === '1',
      cancelled: io.cancelled.aborted,
    });
  }
  outputs.end(code);
  const unwritten = await terminal.drained();
  if (unwritten === null) return code;
  const { reasonFor } = await import('./project/file-reason.ts');
  terminal.write('err', `Error: Standard output could not be written\n\n${reasonFor(unwritten)}\n`);
  await terminal.drained();
  return code === EXIT.ok || code === EXIT.changes ? EXIT.error : code;
}

async function runCommandLine(outputs: Outputs, context: Context): Promise<ExitCode> {
  const found = findCommand(context.tree, context.argv);
  if (found.kind === 'unknown') {
    return refuseUsage([found.problem], null);
  }
  outputs.setCommand(found.path.join(' '));
  if (found.kind === 'group') {
    return runGroup(found, context);
  }
  const command = await found.entry.load();
  const { args, problems } = parseArguments(command, found.rest);
  if (problems.length > 0) {
    return refuseUsage(problems, command);
  }
  if (args.has('help')) {
    const { helpShown } = await import('./commands/help.ts');
    context.view.say(helpShown(command, context.tree));
    return EXIT.ok;
  }
  return command.run(args, context);
}

const ROOT_OPTIONS = [...LEADING_OPTIONS, { name: 'version', aliases: ['v'], summary: 'Print the version.' }];

/** No command: help for `obsiac` alone, the version for `--version`; a group without its second word is wrong usage. */
async function runGroup(
  found: Extract<ReturnType<typeof findCommand>, { kind: 'group' }>,
  context: Context,
): Promise<ExitCode> {
  const { args, problems } = parseArguments({ options: ROOT_OPTIONS, positionals: [] }, found.rest);
  if (args.has('version')) {
    const { version } = await import('./commands/version.ts');
    return version.run(args, context);
  }
  const isBare = found.rest.every((word) => mentions([word], 'json') || mentions([word], 'no-color'));
  if (args.has('help') || (found.group === null && isBare)) {
    const { helpShown } = await import('./commands/help.ts');
    context.view.say(helpShown(found.group, context.tree));
    return EXIT.ok;
  }
  const words = found.group === null ? 'The command is missing: plan, apply or another.' : missingWord(found.group);
  return refuseUsage([...problems, { sentence: words }], null);
}

function missingWord(group: {
  readonly name: string;
  readonly commands: readonly { readonly name: string }[];
}): string {
  return `"${group.name}" needs a second word: ${group.commands.map(({ name }) => name).join(' or ')}.`;
}

/** Throws all that is wrong with the command line as one failure, with suggestions. */
async function refuseUsage(problems: readonly UsageProblem[], command: Command | null): Promise<never> {
  const { usageRefusal } = await import('./arguments/usage-refusal.ts');
  throw usageRefusal(problems, command?.name ?? null);
}
