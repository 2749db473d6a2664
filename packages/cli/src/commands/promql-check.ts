/** `obsiac promql check EXPR`: syntax and types of an expression. */
import { canonicalText, selectorsOf, variablesOf } from '@obsiac/promql';
import { COMMON_OPTIONS, COMPACT_WARNINGS } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { METRICSQL, readExpression } from '../promql/query-text.ts';
import { result } from '../views/messages.ts';
import { counted } from '../views/plan/report.ts';
import type { Command } from './command.ts';

const TYPES = {
  scalar: 'a scalar',
  string: 'a string',
  vector: 'an instant vector',
  matrix: 'a range vector',
} as const;

export const promqlCheck: Command = {
  name: 'promql check',
  summary: 'Check an expression: syntax and types',
  usage: ['promql check EXPR [options]'],
  exits: ['ok', 'invalid'],
  about: [
    'Parses and type-checks a PromQL expression as Prometheus 3 does, and says what it gives. Every problem comes with its place, in words, and with the remedy where there is one.',
  ],
  options: [METRICSQL, COMPACT_WARNINGS, ...COMMON_OPTIONS],
  positionals: [{ name: 'EXPR', required: true, summary: 'The expression; quote it for the shell' }],
  examples: [
    { about: 'A ratio', command: "obsiac promql check 'sum(rate(errors_total[5m])) / sum(rate(requests_total[5m]))'" },
    { about: 'What VictoriaMetrics would take', command: "obsiac promql check --metricsql 'rate(requests_total)'" },
  ],
  run: async (args, context) => {
    const { expr, type } = readExpression(args, context);
    const selectors = selectorsOf(expr).length;
    const variables = [...new Set(variablesOf(expr).map(({ name }) => name))];
    const facts = { result_type: type, selectors, variables, canonical: canonicalText(expr) };
    context.view.say(
      result({ type: 'promql_check', message: `Valid: ${TYPES[type]}`, valid: true, ...facts }, (style) => {
        const with_ =
          variables.length > 0 ? `, with the variables ${variables.map((name) => `$${name}`).join(', ')}` : '';
        return `${style.add('Valid.')} It gives ${TYPES[type]} and reads ${counted(selectors, 'selector')}${with_}.\n`;
      }),
    );
    return EXIT.ok;
  },
};
