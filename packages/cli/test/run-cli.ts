/** Runs a command line in this process, with outputs that are kept, for tests. */
import { PassThrough, Readable } from 'node:stream';
import { main } from '../src/main.ts';
import type { InputStream, OutputStream } from '../src/views/terminal.ts';

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A terminal of this many columns; without it, outputs are pipes. */
  readonly columns?: number;
  /** Standard output goes into a pipe although there is a terminal. */
  readonly stdoutIsPipe?: boolean;
  /** Typed on the terminal, or piped in. */
  readonly stdin?: string;
  /** Whether standard input is a terminal. Default: as the outputs. */
  readonly stdinIsTerminal?: boolean;
  readonly cancelled?: AbortSignal;
}

export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

class Kept {
  readonly stream: OutputStream;
  #text = '';

  constructor(columns: number | undefined) {
    const through = new PassThrough();
    through.setEncoding('utf8');
    through.on('data', (text: string) => {
      this.#text += text;
    });
    this.stream = Object.assign(through, columns === undefined ? {} : { isTTY: true, columns });
  }

  get text(): string {
    return this.#text;
  }
}

export async function runCli(argv: readonly string[], options: RunOptions): Promise<RunResult> {
  const { cwd, env = {}, columns, stdin = '', stdinIsTerminal = columns !== undefined } = options;
  const stdout = new Kept(options.stdoutIsPipe === true ? undefined : columns);
  const stderr = new Kept(columns);
  const input: InputStream = Object.assign(Readable.from(stdin === '' ? [] : [stdin]), { isTTY: stdinIsTerminal });
  const code = await main({
    argv,
    cwd,
    env,
    stdin: input,
    stdout: stdout.stream,
    stderr: stderr.stream,
    cancelled: options.cancelled ?? new AbortController().signal,
    aborted: new AbortController().signal,
  });
  // The streams hand their last bytes over in the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  return { code, stdout: stdout.text, stderr: stderr.text };
}
