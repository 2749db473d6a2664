/** A rule's expression on the wire: an indicator's name, or `macro(tolerance, indicator)`. */
import type { ALGORITHMS } from '@obsiac/api';
import { MACROS, type Macro } from '@obsiac/model';

type Algorithm = (typeof ALGORITHMS)[number];

const ALGORITHM_OF: Readonly<Record<Macro, Algorithm>> = {
  low_spike: 'low_spike',
  high_spike: 'high_spike',
  decreasing_changepoint: 'dec_changepoint',
  increasing_changepoint: 'inc_changepoint',
  increasing_trend: 'inc_trend',
  decreasing_trend: 'dec_trend',
};

const CALL = /^\s*([a-z_]+)\s*\(\s*([^,]*?)\s*,([\s\S]*)\)\s*$/;
const MAX_TOLERANCE = 10;

export interface Expression {
  readonly algorithm: Algorithm;
  /** The indicator named inside a macro; empty for a static rule. */
  readonly indicator: string;
  readonly text: string;
}

/**
 * Reads a rule's expression. The indicator's own name comes first, so that a name that looks like a call stays a name.
 * @returns the expression, or what is wrong with it
 */
export function parseExpression(text: string | undefined, primaryIndicator: string): Expression | { problem: string } {
  if (text === undefined || text.trim() === '' || text.trim() === primaryIndicator.trim()) {
    return { algorithm: 'static_threshold', indicator: '', text: primaryIndicator };
  }
  const [, macro, tolerance, indicator] = CALL.exec(text) ?? [];
  if (macro === undefined || !isMacro(macro)) {
    return { problem: `must be the indicator's name, or one of ${MACROS.join(', ')} as macro(tolerance, indicator)` };
  }
  if (!/^(\d+\.?\d*|\.\d+)$/.test(tolerance!) || Number(tolerance) > MAX_TOLERANCE) {
    return { problem: `the first argument of ${macro} is a tolerance from 0 to ${MAX_TOLERANCE}, not ${tolerance}` };
  }
  return {
    algorithm: ALGORITHM_OF[macro],
    indicator: indicator!.trim(),
    text: formatPattern(macro, tolerance!, indicator!.trim()),
  };
}

/** The same expression over another indicator; a static expression is the indicator's name itself. */
export function renameIndicator(text: string, from: string, to: string): string {
  if (text === from) return to;
  const [, macro, tolerance, indicator] = CALL.exec(text) ?? [];
  return indicator?.trim() === from ? formatPattern(macro!, tolerance!, to) : text;
}

function formatPattern(macro: string, tolerance: string, indicator: string): string {
  return `${macro}(${Number(tolerance)}, ${indicator})`;
}

function isMacro(name: string): name is Macro {
  return (MACROS as readonly string[]).includes(name);
}
