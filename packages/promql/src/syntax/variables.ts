/** Variables (`$name`, `${name}`) in matcher values, and matchers added to every selector: both by tree, not by text. */
import type { Expr, Matcher, Span } from './ast.ts';
import { printMatcher } from './print.ts';
import { mapSelectors, selectorsOf, walk } from './walk.ts';

/** A `$` that ends a regex, or stands before a digit or `$`, is no variable. */
const VARIABLE = /\$(?:\{([a-zA-Z_][a-zA-Z0-9_]*)\}|([a-zA-Z_][a-zA-Z0-9_]*))/g;

/** One use of a variable. `span` is that of the matcher it stands in. */
export interface VariableUse {
  readonly name: string;
  readonly matcher: Matcher;
  readonly span: Span;
}

/** Every use of a variable in the matchers of an expression, in the order of the text. */
export function variablesOf(expr: Expr): VariableUse[] {
  const uses: VariableUse[] = [];
  for (const selector of selectorsOf(expr)) {
    for (const matcher of selector.matchers) {
      for (const match of matcher.value.matchAll(VARIABLE)) {
        uses.push({ name: (match[1] ?? match[2])!, matcher, span: matcher.span });
      }
    }
  }
  return uses;
}

/**
 * Puts values in the place of variables inside matcher values. A variable without a value stays as it is; find those
 * with `variablesOf` afterwards. In a regex the value counts as a regex, so that `checkout|cart` works; it is put in a
 * group where its alternatives would otherwise swallow what stands around the variable.
 */
export function substituteVariables(expr: Expr, values: Readonly<Record<string, string>>): Expr {
  return mapSelectors(expr, (selector) => {
    const matchers = selector.matchers.map((matcher) => substituteMatcher(matcher, values));
    return matchers.every((matcher, i) => matcher === selector.matchers[i]) ? selector : { ...selector, matchers };
  });
}

function substituteMatcher(matcher: Matcher, values: Readonly<Record<string, string>>): Matcher {
  if (!matcher.value.includes('$')) return matcher;
  const isRegex = matcher.op === '=~' || matcher.op === '!~';
  const value = matcher.value.replace(VARIABLE, (use: string, braced?: string, bare?: string) => {
    const name = (braced ?? bare)!;
    if (!Object.hasOwn(values, name)) return use;
    const replacement = values[name]!;
    const needsGroup = isRegex && replacement.includes('|') && use.length < matcher.value.length;
    return needsGroup ? `(?:${replacement})` : replacement;
  });
  return value === matcher.value ? matcher : { ...matcher, value };
}

/**
 * Adds matchers to every selector of an expression; one that a selector has already is not added twice. Selectors that
 * `hidesSelectors` speaks of are not reached.
 */
export function addMatchers(expr: Expr, added: readonly Omit<Matcher, 'span'>[]): Expr {
  return mapSelectors(expr, (selector) => {
    const span = { from: selector.span.to, to: selector.span.to };
    const present = new Set(selector.matchers.map(printMatcher));
    const missing = added.map((matcher) => ({ ...matcher, span })).filter((each) => !present.has(printMatcher(each)));
    return missing.length === 0 ? selector : { ...selector, matchers: [...selector.matchers, ...missing] };
  });
}

/** The first stretch of MetricsQL text whose selectors cannot be rewritten, if there is one. */
export function hidesSelectors(expr: Expr): Span | undefined {
  let hidden: Span | undefined;
  walk(expr, (node) => {
    if (node.kind === 'opaque' && node.hidesSelectors) hidden ??= node.span;
  });
  return hidden;
}
