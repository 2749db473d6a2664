/** The reference of all commands as Markdown, for docs/cli.md: made from the command tree, so that it cannot fall behind. */
import type { Option } from '../src/arguments/option.ts';
import type { Command } from '../src/commands/command.ts';
import { EXIT, EXIT_MEANING, type Outcome } from '../src/exit-code.ts';
import { optionLabel } from '../src/views/help.ts';

/** One section a command, in the order of the tree. Options of `common` are described once, at the end. */
export function commandReference(commands: readonly Command[], common: readonly Option[]): string {
  const isCommon = (option: Option) => common.includes(option);
  const sections = commands.map((command) =>
    commandSection(
      command,
      command.options.filter((one) => !isCommon(one)),
    ),
  );
  return [...sections, `### Options of every command\n\n${optionTable(common)}`].join('\n\n');
}

function commandSection(command: Command, options: readonly Option[]): string {
  const forms = command.usage.map((form) => `obsiac ${form}`).join('\n');
  const parts = [`### obsiac ${command.name}`, `${command.summary}.`, `\`\`\`text\n${forms}\n\`\`\``, ...command.about];
  if (command.positionals.length > 0) {
    const rows = command.positionals.map(({ name, summary }) => `| \`${name}\` | ${cell(summary)} |`);
    parts.push(['| argument | |', '|---|---|', ...rows].join('\n'));
  }
  if (options.length > 0) {
    parts.push(optionTable(options));
  }
  const examples = command.examples.map(({ about, command: line }) => `# ${about}\n${line}`);
  parts.push(`\`\`\`sh\n${examples.join('\n\n')}\n\`\`\``);
  parts.push(`Exit codes: ${command.exits.map((outcome) => `${EXIT[outcome]}`).join(', ')}.`);
  return parts.join('\n\n');
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map((option) => `| \`${optionLabel(option)}\` | ${cell(option.summary)} |`);
  return ['| option | |', '|---|---|', ...rows].join('\n');
}

/** The table of exit codes. */
export function exitCodeReference(): string {
  const rows = (Object.entries(EXIT) as [Outcome, number][]).map(
    ([outcome, code]) => `| ${code} | \`${outcome}\` | ${cell(EXIT_MEANING[outcome])} |`,
  );
  return ['| code | outcome | meaning |', '|---|---|---|', ...rows].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
