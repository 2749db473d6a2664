/** Output for a comment on a pull request: everything is collected and written as one comment at the end. */
import { planComment } from './plan/markdown.ts';
import type { Terminal } from './terminal.ts';
import type { CommentParts, View } from './view.ts';

/** What is about the run itself still goes to standard error, so that the comment stays clean. */
export function createMarkdownView(terminal: Terminal): View {
  const parts: CommentParts = { diagnostics: [] };
  return {
    say: (message) => {
      if (message.comment !== undefined) {
        message.comment(parts);
      }
      if (message.human !== undefined && message.stream === 'err') {
        terminal.write('err', message.human(terminal.style('err')));
      }
    },
    end: () => terminal.write('out', planComment(parts)),
  };
}
