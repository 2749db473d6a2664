/** The evaluator: every rule, every minute. */

export type { Evaluation } from './evaluation-log.ts';
export { createEvaluator, type Evaluator, type EvaluatorOptions, type RuleView } from './evaluator.ts';
