/** The six pattern macros: a minute of a series judged against its own past. */
export { evaluatePattern, type PatternMinute } from './evaluate.ts';
export { type PatternExplanation, patternSentence } from './explanation.ts';
export { buildPatternHistory, type PatternHistory } from './history.ts';
export type { HeldBack, PatternState } from './judgement.ts';
export type { MinuteSeries } from './minute-series.ts';
export { type PatternReach, patternHistoryMinute, patternLimit, patternReach, TAIL_REFRESH_MINUTES } from './shape.ts';
export type { WidthSource } from './width.ts';
export { evaluatePatternWindow, type PatternWindow, type PatternWindowOptions } from './window.ts';
