/** Text for people: results on standard output, everything about the run on standard error. */
import type { Terminal } from './terminal.ts';
import type { Message, View } from './view.ts';

/** Milliseconds between two drawings of the status line; more often is flicker. */
const REDRAW_MS = 80;

export function createHumanView(terminal: Terminal, now: () => number): View {
  let drawnAt = Number.NEGATIVE_INFINITY;
  const drawStatus = (message: Message) => {
    const line = message.status?.(terminal.style('err')) ?? null;
    if (line === null) {
      terminal.status(null);
    } else if (now() - drawnAt >= REDRAW_MS) {
      terminal.status(line);
      drawnAt = now();
    }
  };
  return {
    say: (message) => {
      if (message.status !== undefined && terminal.live) {
        drawStatus(message);
      } else if (message.human !== undefined) {
        terminal.write(message.stream, message.human(terminal.style(message.stream)));
        // The line was erased to make room: the next one is drawn at once.
        drawnAt = Number.NEGATIVE_INFINITY;
      }
    },
    end: () => terminal.status(null),
  };
}
