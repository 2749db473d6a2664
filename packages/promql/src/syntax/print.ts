/** Prints a syntax tree in its one canonical form; what is printed parses back to the same tree. */
import type { Aggregate, AtModifier, Binary, Expr, Matcher, MatrixSelector, Subquery, VectorSelector } from './ast.ts';
import { METRIC_NAME } from './ast.ts';
import { formatDuration, formatNumber, isPlainLabelName, isPlainMetricName, quoteString } from './literals.ts';
import { leftSpine, transform } from './walk.ts';

/** Words that cannot stand bare where a metric name is expected. */
const NOT_BARE_METRICS = new Set('inf nan bool on ignoring group_left group_right atan2'.split(' '));
/** Words that cannot stand bare in a list of labels. */
const NOT_BARE_LABELS = new Set(['inf', 'nan', 'without']);

const POWERS: Readonly<Record<string, number>> = {
  or: 3,
  and: 4,
  unless: 4,
  '==': 5,
  '!=': 5,
  '<': 5,
  '<=': 5,
  '>': 5,
  '>=': 5,
  '+': 6,
  '-': 6,
  '*': 7,
  '/': 7,
  '%': 7,
  atan2: 7,
  '^': 8,
};
const SIGN_POWER = 7;
const OPERAND_POWER = 9;

/** The canonical text of an expression, on one line. Parentheses are added where a tree built by hand needs them. */
export function print(expr: Expr): string {
  return printNode(withParens(expr));
}

/**
 * The tree with parentheses where its text would otherwise read as another tree. A parsed tree comes back as it is,
 * the same object.
 */
export function withParens(expr: Expr): Expr {
  return transform(expr, (node) => {
    switch (node.kind) {
      case 'binary': {
        const left = inParens(node.left, needsParensLeft(node));
        const right = inParens(node.right, needsParensRight(node));
        return left === node.left && right === node.right ? node : { ...node, left, right };
      }
      case 'unary': {
        const inner = inParens(node.expr, needsParensAfterSign(node.expr));
        return inner === node.expr ? node : { ...node, expr: inner };
      }
      case 'subquery': {
        const inner = inParens(node.expr, powerOf(node.expr) < OPERAND_POWER);
        return inner === node.expr ? node : { ...node, expr: inner };
      }
      default:
        return node;
    }
  });
}

function inParens(expr: Expr, needed: boolean): Expr {
  return needed ? { kind: 'paren', expr, span: expr.span } : expr;
}

function printNode(expr: Expr): string {
  switch (expr.kind) {
    case 'numberLiteral':
      return printNumber(expr.value, expr.duration);
    case 'stringLiteral':
      return quoteString(expr.value);
    case 'vectorSelector':
      return printSelector(expr) + printShift(expr);
    case 'matrixSelector':
      return printMatrix(expr);
    case 'subquery':
      return printSubquery(expr);
    case 'call':
      return `${expr.func}(${expr.args.map(printNode).join(', ')})`;
    case 'aggregate':
      return printAggregate(expr);
    case 'binary':
      return printChain(expr);
    case 'unary':
      return `${expr.op}${printNode(expr.expr)}`;
    case 'paren':
      return `(${printNode(expr.expr)})`;
    case 'opaque':
      return expr.parts.map((part) => (typeof part === 'string' ? part : printNode(part))).join('');
  }
}

function printNumber(value: number, duration: boolean): string {
  if (!duration) return formatNumber(value);
  const ms = Math.round(value * 1000);
  if (ms === 0) return Object.is(value, -0) ? '-0s' : '0s';
  return formatDuration(ms);
}

function printSelector(selector: VectorSelector): string {
  const { name, matchers } = selector;
  const bare = name !== undefined && isPlainMetricName(name) && !NOT_BARE_METRICS.has(name.toLowerCase());
  const isNamedTwice = matchers.some((matcher) => matcher.label === METRIC_NAME);
  if (name === undefined) return `{${matchers.map(printMatcher).join(', ')}}`;
  if (!bare || isNamedTwice) return `{${[quoteString(name), ...matchers.map(printMatcher)].join(', ')}}`;
  return matchers.length === 0 ? name : `${name}{${matchers.map(printMatcher).join(', ')}}`;
}

/** One matcher as it stands in braces. */
export function printMatcher(matcher: Matcher): string {
  const label = isPlainLabelName(matcher.label) ? matcher.label : quoteString(matcher.label);
  return `${label}${matcher.op}${quoteString(matcher.value)}`;
}

function printShift(shift: { readonly offset: number; readonly at: AtModifier | undefined }): string {
  const at = shift.at === undefined ? '' : ` @ ${printTime(shift.at)}`;
  return shift.offset === 0 ? at : `${at} offset ${formatDuration(shift.offset)}`;
}

function printTime(at: AtModifier): string {
  return at.kind === 'timestamp' ? formatNumber(at.timestamp / 1000) : `${at.kind}()`;
}

/** A range. One that was cut to zero milliseconds must not be written as zero, which is refused. */
function printRange(ms: number): string {
  return ms === 0 ? '0.0001' : formatDuration(ms);
}

function printMatrix(expr: MatrixSelector): string {
  return `${printSelector(expr.selector)}[${printRange(expr.range)}]${printShift(expr.selector)}`;
}

function printSubquery(expr: Subquery): string {
  const step = expr.step === undefined ? '' : printRange(expr.step);
  return `${printNode(expr.expr)}[${printRange(expr.range)}:${step}]${printShift(expr)}`;
}

function printAggregate(expr: Aggregate): string {
  const args = expr.param === undefined ? printNode(expr.expr) : `${printNode(expr.param)}, ${printNode(expr.expr)}`;
  if (expr.grouping.length === 0 && !expr.without) return `${expr.op}(${args})`;
  return `${expr.op} ${expr.without ? 'without' : 'by'} ${printLabels(expr.grouping)} (${args})`;
}

function printLabels(labels: readonly string[]): string {
  const printed = labels.map((label) =>
    isPlainLabelName(label) && !NOT_BARE_LABELS.has(label.toLowerCase()) ? label : quoteString(label),
  );
  return `(${printed.join(', ')})`;
}

function printChain(expr: Binary): string {
  const spine = leftSpine(expr);
  let text = printNode(spine[0]!.left);
  for (const node of spine) text += ` ${node.op}${printModifiers(node)} ${printNode(node.right)}`;
  return text;
}

/** A sign before a number would become part of it. */
function needsParensAfterSign(expr: Expr): boolean {
  if (expr.kind === 'unary') return false;
  return expr.kind === 'numberLiteral' || powerOf(expr) <= SIGN_POWER;
}

function needsParensLeft(node: Binary): boolean {
  const power = POWERS[node.op]!;
  return powerOf(node.left) < (node.op === '^' ? power + 1 : power);
}

function needsParensRight(node: Binary): boolean {
  const { right } = node;
  // A sign may follow any operator: 2 ^ -1.
  if (right.kind === 'unary' || right.kind === 'numberLiteral') return false;
  const power = POWERS[node.op]!;
  return powerOf(right) < (node.op === '^' ? power : power + 1);
}

/** How strongly the outermost operator of an expression binds. An opaque node stands where it stood in the text. */
function powerOf(expr: Expr): number {
  if (expr.kind === 'binary') return POWERS[expr.op]!;
  if (expr.kind === 'unary') return SIGN_POWER;
  if (expr.kind === 'numberLiteral' && (expr.value < 0 || Object.is(expr.value, -0))) return SIGN_POWER;
  return OPERAND_POWER;
}

function printModifiers(node: Binary): string {
  let text = node.bool ? ' bool' : '';
  const { matching } = node;
  if (matching === undefined) return text;
  const { card } = matching;
  const isGrouped = card === 'many-to-one' || card === 'one-to-many';
  if (matching.on || matching.labels.length > 0 || isGrouped) {
    text += ` ${matching.on ? 'on' : 'ignoring'} ${printLabels(matching.labels)}`;
  }
  if (isGrouped) text += ` ${card === 'many-to-one' ? 'group_left' : 'group_right'} ${printLabels(matching.include)}`;
  return text;
}
