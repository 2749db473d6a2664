/** The fsynced spool of intake batches, and the loader that empties it into the store. */
export type { BatchMeta } from './frame.ts';
export { createLoader, type Loader, type LoaderOptions, type LoaderStatus, type LoadRequest } from './loader.ts';
export { openSpool, Spool, type SpooledBatch, type SpoolOptions, type SpoolStatus } from './spool.ts';
export { SpoolError, type SpoolErrorCode } from './spool-error.ts';
