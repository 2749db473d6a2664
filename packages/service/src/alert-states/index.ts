/** Alert states: what fires now and what fired before, gathered from the store and from every process that evaluates. */
export { LIVE_PATH } from './gather.ts';
export { readHistory } from './history.ts';
export { liveAnswer, liveQuery, liveRulesOf } from './live.ts';
export { readMonitor } from './monitor.ts';
export { type PrometheusRulesQuery, readPrometheusAlerts, readPrometheusRules } from './prometheus.ts';
export { readEvaluations, readRuleState } from './rule-state.ts';
export { readSummary } from './summary.ts';
