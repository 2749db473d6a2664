/** The evaluator: every rule, every minute. */

export type { Evaluation } from './evaluation-log.ts';
export { createEvaluator, type Evaluator, type RuleView } from './evaluator.ts';
