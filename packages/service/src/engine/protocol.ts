/** What the engine's child process and its supervisor say to each other, and the settings they share. */

/** Given to the child as one JSON argument. Sizes are bytes, times milliseconds. */
export interface EngineProcessOptions {
  readonly dataDirectory: string;
  readonly socketPath: string;
  readonly backupDirectory: string;
  /** What the process as a whole may hold; at worst it is a fifth above. The engine refuses work with code 241 before that; see native-engine.ts. */
  readonly memoryLimit: number;
  readonly readers: number;
  readonly writers: number;
  /** Requests that may wait for a session; above it the answer is 503 with code 202. */
  readonly maxWaiting: number;
}

export type EngineFailureCode = 'unsupported_platform' | 'data_directory_locked' | 'engine_failed';

/** From the child, over the process channel. */
export type EngineMessage =
  | { readonly type: 'ready'; readonly version: string; readonly repaired: readonly string[] }
  | { readonly type: 'failed'; readonly code: EngineFailureCode; readonly reason: string };
