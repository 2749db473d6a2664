/** What the engine's child process and its supervisor say to each other, and the settings they share. */

/** Given to the child as one JSON argument. Sizes are bytes, times milliseconds. */
export interface EngineProcessOptions {
  readonly dataDirectory: string;
  readonly socketPath: string;
  readonly backupDirectory: string;
  /** The engine refuses work above this, with code 241. The process as a whole stays about a fifth above it at worst. */
  readonly memoryLimit: number;
  readonly readers: number;
  readonly writers: number;
  /** Requests that may wait for a session; above it the answer is 503 with code 202. */
  readonly maxWaiting: number;
  /** Applied to each statement that does not set its own. */
  readonly defaultSettings: Readonly<Record<string, string>>;
}

export type EngineFailureCode = 'unsupported_platform' | 'data_directory_locked' | 'engine_failed';

/** From the child, over the process channel. */
export type EngineMessage =
  | { readonly type: 'ready'; readonly version: string; readonly repaired: readonly string[] }
  | { readonly type: 'failed'; readonly code: EngineFailureCode; readonly reason: string };
