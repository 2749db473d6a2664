/** Help texts, made from the command tree. */
import { dashed, namesOf, type Option } from '../arguments/option.ts';
import type { Command, CommandGroup, CommandNode } from '../commands/command.ts';
import { EXIT, EXIT_MEANING, type Outcome } from '../exit-code.ts';
import { type Style, wrap } from './style.ts';

const GAP = 2;

/** `-mf, --model-file PATH`. */
export function optionLabel(option: Option): string {
  const names = namesOf(option).map(dashed);
  const ordered = [...names].sort((a, b) => Number(a.startsWith('--')) - Number(b.startsWith('--')));
  return `${ordered.join(', ')}${option.value === undefined ? '' : ` ${option.value}`}`;
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
    command.usage.map((form, index) => `${style.strong(index === 0 ? 'Usage:' : '      ')} obsiac ${form}`).join('\n'),
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
  parts.push(`${style.strong('Exit codes:')}\n${exitTable(command.exits, style)}`);
  return `${parts.join('\n\n')}\n`;
}

/** Exit codes with what they mean. */
export function exitTable(outcomes: readonly Outcome[], style: Style): string {
  const rows = outcomes.map((outcome) => [String(EXIT[outcome]).padStart(3), EXIT_MEANING[outcome]] as const);
  return table(rows, style.width);
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
