/** The public face of the PromQL package. */
export * from './syntax/ast.ts';
export { AGGREGATES, type AggregateSignature, FUNCTIONS, type FunctionSignature } from './syntax/functions.ts';
