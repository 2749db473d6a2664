/** Parses the expression of a command line and shows what is wrong with it, with a caret under the spot. */
import { type Diagnostic, hasErrors } from '@obsiac/model';
import { type Dialect, lineColumn, type ParsedQuery, parse, type QueryProblem } from '@obsiac/promql';
import type { Option } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import type { Context } from '../commands/command.ts';
import { InvalidInput } from '../failure.ts';
import { sayDiagnostics } from '../project/diagnostics.ts';

/** The name that the expression has in messages, where a file has its path. */
const PLACE = 'EXPR';

export const METRICSQL: Option = {
  name: 'metricsql',
  summary: 'Also take what only VictoriaMetrics takes, and say where.',
};

const KINDS = {
  expression: { severity: 'error', code: 'query/invalid', summary: 'Not a valid expression' },
  notice: { severity: 'warning', code: 'query/notice', summary: 'Worth knowing' },
  samples: { severity: 'error', code: 'samples/invalid', summary: 'Not valid samples' },
} as const;

/** A problem in a text, as a diagnostic with line and column. */
export function problemDiagnostic(
  problem: QueryProblem,
  text: string,
  file: string,
  kind: keyof typeof KINDS,
): Diagnostic {
  const from = lineColumn(text, problem.from);
  const to = lineColumn(text, Math.max(problem.to, problem.from + 1));
  return {
    ...KINDS[kind],
    detail: problem.fix === undefined ? problem.message : `${problem.message} ${problem.fix}`,
    source: { file, line: from.line, column: from.column, endLine: to.line, endColumn: to.column },
  };
}

/** Shows all problems; throws `InvalidInput` when the expression cannot be used. */
export function readExpression(args: Arguments, context: Context): ParsedQuery {
  const text = args.positional(0) ?? '';
  const dialect: Dialect = args.has('metricsql') ? 'metricsql' : 'prometheus';
  const parsed = parse(text, { dialect });
  const diagnostics = [
    ...(parsed.ok ? [] : parsed.problems.map((problem) => problemDiagnostic(problem, text, PLACE, 'expression'))),
    ...parsed.notices.map((notice) => problemDiagnostic(notice, text, PLACE, 'notice')),
  ];
  sayDiagnostics(diagnostics, new Map([[PLACE, text]]), args, context);
  if (!parsed.ok || hasErrors(diagnostics)) throw new InvalidInput();
  return parsed;
}
