/** The messages that every command shares: diagnostics, failures, notices, and plain results. */
import type { Diagnostic } from '@obsiac/model';
import type { FailureText } from '../failure.ts';
import { rangeJson } from './range.ts';
import { harmless, type Style, wrap } from './style.ts';
import type { JsonEvent, Message } from './view.ts';

/** Something about the run that is not an error, for example a lock taken over. */
export function notice(text: string, level: 'info' | 'warn' = 'info'): Message {
  return {
    stream: 'err',
    human: (style) => `${level === 'warn' ? style.change('Warning: ') : ''}${wrap(harmless(text), style.width)}\n`,
    json: () => [{ type: 'log', level, message: text }],
  };
}

/** A result with its own text and its own event. */
export function result(event: JsonEvent, human: (style: Style) => string): Message {
  return { stream: 'out', human, json: () => [event] };
}

/** Why the command ends. */
export function failureShown(failure: FailureText, stack?: string): Message {
  return {
    stream: 'err',
    human: (style) => failureLines(failure, style) + (stack === undefined ? '' : `\n${harmless(stack)}\n`),
    json: () => [
      {
        type: 'diagnostic',
        level: 'error',
        message: `Error: ${failure.summary}`,
        diagnostic: {
          severity: 'error',
          code: failure.code,
          summary: failure.summary,
          detail: failure.detail ?? '',
          ...(failure.commands && { commands: failure.commands }),
        },
        ...(stack !== undefined && { stack }),
      },
    ],
    comment: (parts) => {
      parts.failure = failure;
    },
  };
}

function failureLines(failure: FailureText, style: Style): string {
  const lines = [`${style.remove(style.strong('Error:'))} ${style.strong(harmless(failure.summary))}`];
  if (failure.detail !== undefined) {
    lines.push('', wrap(harmless(failure.detail), style.width));
  }
  if (failure.commands !== undefined && failure.commands.length > 0) {
    lines.push('', ...failure.commands.map((command) => `    ${command}`));
  }
  return `${lines.join('\n')}\n`;
}

/** How diagnostics are drawn; the rendering with source line and caret is the model's, passed in since it is loaded late. */
export interface DiagnosticDrawing {
  readonly render: (diagnostic: Diagnostic, style: Style) => string;
  readonly snippet: (diagnostic: Diagnostic) => string | undefined;
  /** Warnings on one line each. */
  readonly compactWarnings: boolean;
}

/** All findings of a run: errors first, each with its place, then how many there are. */
export function diagnosticsShown(diagnostics: readonly Diagnostic[], drawing: DiagnosticDrawing): Message {
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
  const warnings = diagnostics.filter((diagnostic) => diagnostic.severity === 'warning');
  const ordered = [...errors, ...warnings];
  return {
    stream: 'err',
    human: (style) => {
      const { first, more } = firstOfEachCode(warnings);
      const blocks = [...errors, ...first].map((diagnostic) =>
        diagnostic.severity === 'warning' && drawing.compactWarnings
          ? compactLine(diagnostic, style)
          : drawing.render(diagnostic, style),
      );
      blocks.push(...more.map(([code, count]) => moreLine(code, count, style)));
      return ordered.length === 0 ? '' : `${blocks.join('\n')}\n${countLine(errors.length, warnings.length, style)}\n`;
    },
    json: () => ordered.map((diagnostic) => diagnosticEvent(diagnostic, drawing.snippet(diagnostic))),
    comment: (parts) => {
      parts.diagnostics.push(...ordered);
    },
  };
}

/** Warnings of one code that are shown as text. A habit of a large model would else bury everything under its repetitions. */
const SHOWN_OF_A_CODE = 20;

function firstOfEachCode(warnings: readonly Diagnostic[]) {
  const seen = new Map<string, number>();
  const first = warnings.filter(({ code }) => {
    const count = (seen.get(code) ?? 0) + 1;
    seen.set(code, count);
    return count <= SHOWN_OF_A_CODE;
  });
  const more = [...seen].filter(([, count]) => count > SHOWN_OF_A_CODE);
  return { first, more };
}

function moreLine(code: string, count: number, style: Style): string {
  return `${style.change('Warning:')} ${count - SHOWN_OF_A_CODE} more of ${code}; --json shows them.\n`;
}

function compactLine(diagnostic: Diagnostic, style: Style): string {
  const { source } = diagnostic;
  const where = source === undefined ? '' : ` ${source.file}:${source.line}:${source.column}:`;
  return `${style.change('Warning:')}${where} ${harmless(diagnostic.detail).replaceAll('\n', ' ')} [${diagnostic.code}]`;
}

function countLine(errors: number, warnings: number, style: Style): string {
  const part = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  const words = [...(errors > 0 ? [part(errors, 'error')] : []), ...(warnings > 0 ? [part(warnings, 'warning')] : [])];
  return style.strong(words.join(', '));
}

function diagnosticEvent(diagnostic: Diagnostic, snippet: string | undefined): JsonEvent {
  const { severity, code, summary, detail, source } = diagnostic;
  return {
    type: 'diagnostic',
    level: severity === 'error' ? 'error' : 'warn',
    message: `${severity === 'error' ? 'Error' : 'Warning'}: ${summary}`,
    diagnostic: {
      severity,
      code,
      summary,
      detail,
      ...(source && {
        range: rangeJson(source),
      }),
      ...(snippet !== undefined && { snippet: { code: snippet } }),
    },
  };
}
