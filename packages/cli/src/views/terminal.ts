/** The one place that writes to the process's outputs and reads from its input. */
import type { Readable, Writable } from 'node:stream';
import { createStyle, type Style, wantsColours } from './style.ts';

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };
export type InputStream = Readable & { readonly isTTY?: boolean };

export interface TerminalStreams {
  /** Looked at only when there is something to ask. */
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Terminal {
  write(stream: 'out' | 'err', text: string): void;
  /** Writes to standard output; resolves when more may be written, with false when nobody reads any longer. */
  pour(chunk: Uint8Array): Promise<boolean>;
  style(stream: 'out' | 'err'): Style;
  /** Draws one line that the next draws over; `null` takes it away. Does nothing where `live` is false. */
  status(line: string | null): void;
  /** Whether a line can be redrawn. */
  readonly live: boolean;
  /** Whether there is a person to ask. */
  readonly canAsk: boolean;
  /** The answer without spaces around it; null when the input ended or `signal` was aborted first. */
  ask(question: string, signal: AbortSignal): Promise<string | null>;
  /** Resolves when everything written has left the process, or cannot: then with why, unless the reader has just gone. */
  drained(): Promise<NodeJS.ErrnoException | null>;
}

/** What a write gives when its reader has gone. */
const READER_GONE = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);

/** Writing to a pipe whose reader has gone is not an error of ours: `obsiac plan | head` must end like `obsiac plan`. */
class Outlet {
  readonly stream: OutputStream;
  #closed = false;
  #failure: NodeJS.ErrnoException | null = null;

  constructor(stream: OutputStream) {
    this.stream = stream;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.#closed = true;
      if (!READER_GONE.has(error.code ?? '')) this.#failure ??= error;
    });
  }

  write(text: string): void {
    if (!this.#closed && text !== '') {
      this.stream.write(text);
    }
  }

  /** False: the reader has gone. */
  pour(chunk: Uint8Array): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.stream.write(chunk, (error) => resolve(!error && !this.#closed));
    });
  }

  async drained(): Promise<NodeJS.ErrnoException | null> {
    if (!this.#closed) {
      await new Promise<void>((resolve) => {
        this.stream.write('', () => resolve());
      });
    }
    return this.#failure;
  }
}

async function readAnswer(stdin: InputStream, output: OutputStream, question: string, signal: AbortSignal) {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: stdin, output, terminal: false });
  try {
    return await new Promise<string | null>((resolve) => {
      lines.once('line', (line) => resolve(line.trim()));
      lines.once('close', () => resolve(null));
      signal.addEventListener('abort', () => resolve(null), { once: true });
      output.write(question);
    });
  } finally {
    lines.close();
    stdin.pause();
  }
}

export function createTerminal(streams: TerminalStreams, noColor: boolean): Terminal {
  const { stdout, stderr, env } = streams;
  const outlets = { out: new Outlet(stdout), err: new Outlet(stderr) };
  const live = stderr.isTTY === true && env['TERM'] !== 'dumb';
  const asked = stderr.isTTY === true ? stderr : stdout;
  const coloured = wantsColours(stderr, env, noColor);
  let drawn = 0;
  const erase = () => {
    if (drawn > 0) {
      // Where no colours are wanted there are no other control sequences either.
      outlets.err.write(coloured ? '\r\u001b[2K' : `\r${' '.repeat(drawn)}\r`);
      drawn = 0;
    }
  };
  return {
    write: (stream, text) => {
      erase();
      outlets[stream].write(text);
    },
    pour: (chunk) => {
      erase();
      return outlets.out.pour(chunk);
    },
    style: (stream) => {
      const output = outlets[stream].stream;
      return createStyle(wantsColours(output, env, noColor), output.columns);
    },
    status: (line) => {
      if (live) {
        erase();
        if (line !== null) {
          outlets.err.write(line);
          drawn = line.length;
        }
      }
    },
    live,
    get canAsk() {
      return streams.stdin.isTTY === true && (stdout.isTTY === true || stderr.isTTY === true);
    },
    ask: (question, signal) => {
      erase();
      return signal.aborted ? Promise.resolve(null) : readAnswer(streams.stdin, asked, question, signal);
    },
    drained: async () => {
      erase();
      const [failure] = await Promise.all([outlets.out.drained(), outlets.err.drained()]);
      return failure;
    },
  };
}
