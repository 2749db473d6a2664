/** Shows diagnostics with the lines of the files that they are about. */
import { type Diagnostic, type DiagnosticPart, renderDiagnostic } from '@obsiac/model';
import type { Arguments } from '../arguments/parse.ts';
import type { Context } from '../commands/command.ts';
import { diagnosticsShown } from '../views/messages.ts';
import type { Style } from '../views/style.ts';

/** File name, as in the diagnostics, to its text without secrets. */
export type Texts = ReadonlyMap<string, string>;

/** Says all of `diagnostics`, errors first. */
export function sayDiagnostics(
  diagnostics: readonly Diagnostic[],
  texts: Texts,
  args: Arguments,
  context: Context,
): void {
  if (diagnostics.length === 0) {
    return;
  }
  const textOf = (file: string | undefined) => (file === undefined ? undefined : texts.get(file));
  context.view.say(
    diagnosticsShown(diagnostics, {
      render: (diagnostic, style) =>
        `${renderDiagnostic(diagnostic, textOf(diagnostic.source?.file), { width: style.width, paint: painter(style) })}\n`,
      snippet: ({ source }) => {
        const text = source && textOf(source.file);
        return source && text?.split('\n', source.line)[source.line - 1]?.slice(0, 400);
      },
      compactWarnings: args.declares('compact-warnings') && args.has('compact-warnings'),
    }),
  );
}

function painter(style: Style) {
  return (text: string, part: DiagnosticPart) => {
    switch (part) {
      case 'error':
      case 'caret':
        return style.remove(text);
      case 'warning':
        return style.change(text);
      case 'headline':
        return style.strong(text);
      case 'gutter':
        return style.faint(text);
      default:
        return text;
    }
  };
}
