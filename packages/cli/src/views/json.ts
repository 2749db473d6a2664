/** The JSON stream: one event a line, in the shape that Terraform's `-json` made common, ending with `result`. */
import { type ExitCode, outcomeOf } from '../exit-code.ts';
import type { JsonEvent, View } from './view.ts';

/** Goes up by one in the first part when an event changes so that a reader could break. */
const JSON_UI_VERSION = '1.0';

/** The event as a line: `@level @message @module @timestamp type`, then the rest. */
export function jsonLine(event: JsonEvent, at: Date): string {
  const { type, message, level, ...rest } = event;
  return `${JSON.stringify({
    '@level': level ?? 'info',
    '@message': message,
    '@module': 'obsiac',
    '@timestamp': at.toISOString(),
    type,
    ...rest,
  })}\n`;
}

export interface JsonViewOptions {
  readonly write: (line: string) => void;
  readonly now: () => number;
  readonly version: string;
  /** The command, for the last event; empty when none was found. */
  readonly command: () => string;
}

/** Writes the `version` event at once, and `result`, the one terminal event, at the end. */
export function createJsonView(options: JsonViewOptions): View {
  const write = (event: JsonEvent) => options.write(jsonLine(event, new Date(options.now())));
  let ended = false;
  write({
    type: 'version',
    message: `obsiac ${options.version}`,
    obsiac: options.version,
    ui: JSON_UI_VERSION,
  });
  return {
    say: (message) => {
      for (const event of message.json?.() ?? []) {
        if (!ended) write(event);
      }
    },
    end: (code: ExitCode) => {
      if (ended) return;
      ended = true;
      const command = options.command();
      write({
        type: 'result',
        level: code === 0 || code === 2 ? 'info' : 'error',
        message: `${command === '' ? 'obsiac' : `obsiac ${command}`}: ${outcomeOf(code)}`,
        command,
        exit_code: code,
        outcome: outcomeOf(code),
      });
    },
  };
}
