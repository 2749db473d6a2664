/** What a model file means: everything here gives the same answer for the same arguments. */
export * from './address.ts';
export * from './diagnostic.ts';
export * from './model.ts';
export {
  canonicalBinding,
  canonicalEntity,
  canonicalIndicator,
  canonicalRule,
  createComparison,
} from './plan/canonical.ts';
export { PLAN_CODES, type PlanCode } from './plan/codes.ts';
export { shownFields } from './plan/fields.ts';
export {
  PLAN_FILE_VERSION,
  type PlanFileError,
  type PlanFileErrorCode,
  type PlanFileResult,
  planFromJson,
  planToJson,
  type SavedPlan,
} from './plan/file.ts';
export { massDeletion } from './plan/guard.ts';
export { plan } from './plan/make-plan.ts';
export { executionOrder, needsRequest } from './plan/order.ts';
export * from './plan/plan.ts';
export { pendingOperation, recordResult } from './plan/record.ts';
export { acceptRenames } from './plan/renames.ts';
export { hasChanges, summary } from './plan/summary.ts';
export * from './query/index.ts';
export { type SnapshotStamp, StateEditor } from './state/editor.ts';
export {
  type ReadStateOptions,
  readState,
  type StateError,
  type StateErrorCode,
  type StateResult,
} from './state/read.ts';
export * from './state/state.ts';
export { writeState } from './state/write.ts';
