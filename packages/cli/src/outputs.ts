/** Which views a run has: text or JSON on the screen, JSON into a file beside it. */
import { closeSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { mentionedText, mentions } from './arguments/parse.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { Failure } from './failure.ts';
import { reasonFor } from './project/file-reason.ts';
import { VERSION } from './version.ts';
import { createHumanView } from './views/human.ts';
import { createJsonView } from './views/json.ts';
import type { Terminal } from './views/terminal.ts';
import { tee, type View } from './views/view.ts';

export interface Outputs {
  readonly view: View;
  /** Once the command is known; the last JSON event names it. */
  setCommand(command: string): void;
  /** Throws when an output that was asked for cannot be had. */
  throwIfUnusable(): void;
  /** Ends the view and closes what was opened. */
  end(code: ExitCode): void;
}

interface OutputRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
}

interface EventFile {
  write(line: string): void;
  /** Gives the error that kept events from the file, if one did. */
  close(): Error | null;
}

/** Writes at once, so that a killed run leaves the events until then. A full disk must not stop an apply: it is told at the end. */
function openEventFile(file: string): EventFile {
  const descriptor = openSync(file, 'w');
  let failed: Error | null = null;
  return {
    write: (line) => {
      try {
        if (failed === null) writeSync(descriptor, line);
      } catch (error) {
        failed = error as Error;
      }
    },
    close: () => {
      closeSync(descriptor);
      return failed;
    },
  };
}

/** Opens the outputs. A command line that cannot even be read still gets the form it asks for. */
export async function openOutputs({ argv, cwd }: OutputRequest, terminal: Terminal): Promise<Outputs> {
  let command = '';
  let unusable: Failure | null = null;
  let file: EventFile | null = null;
  const views: View[] = [];
  const jsonView = (write: (line: string) => void) =>
    createJsonView({ write, now: Date.now, version: VERSION, command: () => command });
  if (mentions(argv, 'json')) {
    views.push(jsonView((line) => terminal.write('out', line)));
  } else if (mentions(argv, 'markdown') && argv.includes('plan')) {
    const { createMarkdownView } = await import('./views/markdown.ts');
    views.push(createMarkdownView(terminal));
  } else {
    views.push(createHumanView(terminal, () => performance.now()));
  }
  const into = mentionedText(argv, 'json-into');
  if (into !== undefined) {
    try {
      file = openEventFile(path.resolve(cwd, into));
      views.push(jsonView(file.write));
    } catch (error) {
      unusable = unwritable(into, error as NodeJS.ErrnoException);
    }
  }
  const view = tee(views);
  return {
    view,
    setCommand: (name) => {
      command = name;
    },
    throwIfUnusable: () => {
      if (unusable !== null) throw unusable;
    },
    end: (code) => {
      view.end(code);
      const failed = file?.close() ?? null;
      if (failed !== null) {
        terminal.write('err', `Warning: not all events could be written into ${into}: ${failed.message}.\n`);
      }
    },
  };
}

function unwritable(file: string, error: NodeJS.ErrnoException): Failure {
  return new Failure(EXIT.error, {
    code: 'output_unwritable',
    summary: `The file ${file} for the JSON events cannot be written`,
    detail: reasonFor(error),
  });
}
