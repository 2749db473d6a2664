/** What a model file means: everything here gives the same answer for the same arguments. */
export * from './diagnostic.ts';
export * from './model.ts';
export * from './plan/plan.ts';
export * from './state/state.ts';
export * from './query/index.ts';
