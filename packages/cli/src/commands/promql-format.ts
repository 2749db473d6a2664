/** `obsiac promql format EXPR`: an expression in its one canonical form. */
import { canonicalText } from '@obsiac/promql';
import { COMMON_OPTIONS, COMPACT_WARNINGS } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { METRICSQL, readExpression } from '../promql/query-text.ts';
import { result } from '../views/messages.ts';
import type { Command } from './command.ts';

export const promqlFormat: Command = {
  name: 'promql format',
  summary: 'Print an expression in its canonical form',
  usage: ['promql format EXPR [options]'],
  exits: ['ok', 'invalid'],
  about: [
    'Prints the expression in the form by which plans compare queries: white space, the spelling of numbers and durations, quotes and superfluous parentheses are evened out. What is printed means the same.',
  ],
  options: [METRICSQL, COMPACT_WARNINGS, ...COMMON_OPTIONS],
  positionals: [{ name: 'EXPR', required: true, summary: 'The expression; quote it for the shell' }],
  examples: [
    { about: 'Even out an expression', command: "obsiac promql format '( sum  (rate(x[300s]))by(job) )>1e3'" },
  ],
  run: async (args, context) => {
    const text = canonicalText(readExpression(args, context).expr);
    context.view.say(result({ type: 'promql_format', message: text, canonical: text }, () => `${text}\n`));
    return EXIT.ok;
  },
};
