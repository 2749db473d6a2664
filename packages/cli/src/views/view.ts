/** How commands speak: they say messages, and a view decides what becomes of them on this run's outputs. */
import type { Diagnostic } from '@obsiac/model';
import type { ExitCode } from '../exit-code.ts';
import type { FailureText } from '../failure.ts';
import type { PlanReport } from './plan/report.ts';
import type { Style } from './style.ts';

type JsonLevel = 'error' | 'warn' | 'info' | 'debug';

/** One line of the JSON stream, before the view adds level, module, time and the sentence. */
export interface JsonEvent {
  readonly type: string;
  /** The same for people, in one line. */
  readonly message: string;
  readonly level?: JsonLevel;
  readonly [key: string]: unknown;
}

/** What a pull-request comment is made of; it is written once, at the end. */
export interface CommentParts {
  plan?: PlanReport;
  failure?: FailureText;
  readonly diagnostics: Diagnostic[];
}

/** One thing said, with its form for each kind of output. A form that is absent says nothing there. */
export interface Message {
  /** Results go to `out`, everything about the run to `err`. */
  readonly stream: 'out' | 'err';
  /** Whole lines. */
  readonly human?: (style: Style) => string;
  /** In place of `human` where a line can be redrawn: the text of that line, `null` to take it away. */
  readonly status?: (style: Style) => string | null;
  readonly json?: () => readonly JsonEvent[];
  readonly comment?: (parts: CommentParts) => void;
}

export interface View {
  say(message: Message): void;
  /** The end of the command, exactly once. */
  end(code: ExitCode): void;
}

/** Says everything to all of `views`. */
export function tee(views: readonly View[]): View {
  return {
    say: (message) => {
      for (const view of views) view.say(message);
    },
    end: (code) => {
      for (const view of views) view.end(code);
    },
  };
}
