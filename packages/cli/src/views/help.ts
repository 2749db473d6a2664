/** Help texts, made from the command tree. */
import { dashed, namesOf, type Option } from '../arguments/option.ts';
import type { Command, CommandGroup, CommandNode } from '../commands/command.ts';
import type { Style } from './style.ts';
import { wrap } from './style.ts';

const GAP = 2;

/** `-mf, --model-file PATH`. */
export function optionLabel(option: Option): string {
  const names = namesOf(option).map(dashed);
  const ordered = [...names].sort((a, b) => Number(a.startsWith('--')) - Number(b.startsWith('--')));
  return `${ordered.join(', ')}${option.value === undefined ? '' : ` ${option.value}`}`;
}

/** `obsiac -mf PATH -c PATH apply [PLANFILE] [options]`. */
export function usageLine(command: Command): string {
  const leading = command.options
    .filter((option) => option.name === 'model-file' || option.name === 'config')
    .map((option) => `${dashed(option.aliases?.[0] ?? option.name)} ${option.value}`);
  const positionals = command.positionals.map(({ name, required }) => (required ? name : `[${name}]`));
  return ['obsiac', ...leading, command.name, ...positionals, '[options]'].join(' ');
}

/** Two columns: labels, and texts that wrap under themselves. */
function table(rows: readonly (readonly [string, string])[], width: number): string {
  const longest = Math.min(34, Math.max(...rows.map(([label]) => label.length)));
  const margin = ' '.repeat(2 + longest + GAP);
  return rows
    .map(([label, text]) => {
      const [first = '', ...more] = wrap(text, width, margin).split('\n');
      const head = `  ${label}`;
      return head.length + GAP > margin.length
        ? [head, first, ...more].join('\n')
        : [head.padEnd(margin.length) + first.slice(margin.length), ...more].join('\n');
    })
    .join('\n');
}

export function commandHelp(command: Command, style: Style): string {
  const parts = [
    `${style.strong('Usage:')} ${usageLine(command)}`,
    ...command.about.map((paragraph) => wrap(paragraph, style.width)),
  ];
  if (command.positionals.length > 0) {
    const rows = command.positionals.map(({ name, summary }) => [name, summary] as const);
    parts.push(`${style.strong('Arguments:')}\n${table(rows, style.width)}`);
  }
  const rows = command.options.map((option) => [optionLabel(option), option.summary] as const);
  parts.push(`${style.strong('Options:')}\n${table(rows, style.width)}`);
  const examples = command.examples.map(({ about, command: line }) => `  ${style.faint(`# ${about}`)}\n  ${line}`);
  parts.push(`${style.strong('Examples:')}\n${examples.join('\n\n')}`);
  return `${parts.join('\n\n')}\n`;
}

export function groupHelp(group: CommandGroup, style: Style): string {
  const rows = group.commands.map(({ name, summary }) => [name, summary] as const);
  return [
    `${style.strong('Usage:')} obsiac ${group.name} <command> [options]`,
    `${group.summary}.`,
    `${style.strong('Commands:')}\n${table(rows, style.width)}`,
    `Run "obsiac ${group.name} <command> --help" for one of them.`,
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

export function rootHelp(tree: readonly CommandNode[], style: Style): string {
  const rows = tree.map(({ name, summary }) => [name, summary] as const);
  return `${[
    `${style.strong('Usage:')} obsiac -mf MODEL -c CONFIG <command> [options]`,
    wrap(
      'Alerts as code: obsiac reads a YAML model of alert managers, indicators, alert rules and notification channels and makes an observability service match it. Flags may stand before or after the command.',
      style.width,
    ),
    `${style.strong('Commands:')}\n${table(rows, style.width)}`,
    `${style.strong('Start here:')}
  ${style.faint('# See what would change; this writes nothing')}
  obsiac -mf model.yaml -c config.json plan

  ${style.faint('# Change it; asks for "yes" on a terminal')}
  obsiac -mf model.yaml -c config.json apply

  ${style.faint('# No model yet? Write one from what the service holds')}
  obsiac -c config.json import -o model.yaml`,
    'Run "obsiac <command> --help" for its options, examples and exit codes.',
  ].join('\n\n')}\n`;
}
