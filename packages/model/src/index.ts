/** What a model file means: everything here gives the same answer for the same arguments. */
export * from './address.ts';
export * from './alerting/index.ts';
export { CODES, type Code } from './check/codes.ts';
export { didYouMean, nearest, quote } from './check/nearest.ts';
export {
  API_ACTIONS,
  type ApiAction,
  type Config,
  type ConfigInputFile,
  type ParsedConfig,
  parseConfig,
} from './config/parse-config.ts';
export { resolveStatePath, type StatePath, type StatePathInput } from './config/state-path.ts';
export * from './dataset/dataset.ts';
export * from './diagnostic.ts';
export * from './model.ts';
export { type ParsedModel, parseModel } from './parse/parse-model.ts';
export { type InputFile, LARGEST_FILE } from './parse/read-text.ts';
export * from './pattern/index.ts';
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
export { canonicalQuery, dataSourceOf, type ExpandedQuery, expandQuery, queryVariables } from './query-text.ts';
export { displayWidth, printable } from './render/display-width.ts';
export { type DiagnosticPart, type RenderOptions, renderDiagnostic } from './render/render-diagnostic.ts';
export { DEFAULT_STATE_FILE, HOSTED_API } from './schema/config-schema.ts';
export { configJsonSchema, type JsonSchema, modelJsonSchema } from './schema/json-schema.ts';
export { slugOf } from './schema/text.ts';
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
export * from './template/index.ts';
export { writeModel } from './write/write-model.ts';
