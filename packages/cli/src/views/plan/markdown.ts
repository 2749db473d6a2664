/**
 * A plan as one comment on a pull request: summary first, deletions next, details folded, never longer than a forge takes.
 * The first line is a marker by which a job finds its earlier comment and replaces it.
 */
import { type Change, type Diagnostic, hasChanges } from '@obsiac/model';
import { oneLine } from '../style.ts';
import type { CommentParts } from '../view.ts';
import { fieldLines } from './field.ts';
import {
  changesByEntity,
  counted,
  countKinds,
  type Deletion,
  deletionsOf,
  entityOf,
  KIND_NAMES,
  movedSnippet,
  type PlanReport,
  shortName,
  totalsLine,
  unmanagedLines,
} from './report.ts';
import { fieldsWorthShowing } from './shown-fields.ts';

export const COMMENT_MARKER = '<!-- obsiac-plan -->';

/** GitHub, GitLab and Gitea take 65,536 characters; the rest is for what a job adds around the comment. */
export const COMMENT_LIMIT = 65_000;

/** What each part may take, so that all of them and the changes fit. Deletions get most, since they matter most. */
const DELETION_BUDGET = 30_000;
const SECTION_BUDGET = 7_000;
const LINE_LIMIT = 400;
const FIELD_WIDTH = 100;

/** Characters that are left; every part is asked for before it is added, so that the limit holds by construction. */
class Draft {
  #text = '';
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get text(): string {
    return this.#text;
  }

  get left(): number {
    return this.#limit - this.#text.length;
  }

  add(text: string): void {
    this.#text += text;
  }
}

/** The whole comment. */
export function planComment(parts: CommentParts): string {
  const draft = new Draft(COMMENT_LIMIT);
  draft.add(`${COMMENT_MARKER}\n${headline(parts)}\n`);
  addFailure(draft, parts);
  addDiagnostics(draft, parts.diagnostics);
  const { plan: report } = parts;
  if (report !== undefined) {
    addDeletions(draft, deletionsOf(report.plan));
    addRenames(draft, report);
    addDrift(draft, report);
    const closing = closingLines(report);
    addChanges(draft, report, closing.length);
    draft.add(closing);
  }
  return draft.text;
}

function headline(parts: CommentParts): string {
  const errors = parts.diagnostics.filter((diagnostic) => diagnostic.severity === 'error').length;
  if (errors > 0) {
    return `### Obsiac: the model has ${counted(errors, 'error')}`;
  }
  if (parts.failure !== undefined || parts.plan === undefined) {
    return '### Obsiac: no plan could be made';
  }
  return `### ${hasChanges(parts.plan.plan) ? `Obsiac ${lowerFirst(totalsLine(parts.plan.plan))}` : 'Obsiac plan: no changes'}`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function addFailure(draft: Draft, { failure }: CommentParts): void {
  if (failure !== undefined) {
    draft.add(`\n**${cut(escapeText(failure.summary))}**\n`);
    draft.add(failure.detail === undefined ? '' : `\n${cut(escapeText(failure.detail), 4000)}\n`);
  }
}

function addDiagnostics(draft: Draft, diagnostics: readonly Diagnostic[]): void {
  const errorsFirst = [...diagnostics].sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error'));
  const lines = errorsFirst.map((diagnostic) => {
    const { source } = diagnostic;
    const where = source === undefined ? '' : ` ${code(`${source.file}:${source.line}`)}`;
    return `- **${diagnostic.severity}**${where} ${cut(escapeText(diagnostic.detail))} (${code(diagnostic.code)})`;
  });
  addList(draft, lines, SECTION_BUDGET, (count) => `- … and ${counted(count, 'more problem')}`);
}

/** Adds lines until `budget` is used, then one line that counts the rest. */
function addList(draft: Draft, lines: readonly string[], budget: number, rest: (count: number) => string): void {
  if (lines.length === 0) {
    return;
  }
  const most = budget - rest(lines.length).length - 4;
  let used = 0;
  let shown = 0;
  for (const line of lines) {
    if (used + line.length + 1 > most) break;
    used += line.length + 1;
    shown++;
  }
  const hidden = lines.length - shown;
  draft.add(`\n${[...lines.slice(0, shown), ...(hidden > 0 ? [rest(hidden)] : [])].join('\n')}\n`);
}

function addDeletions(draft: Draft, deletions: readonly Deletion[]): void {
  if (deletions.length === 0) {
    return;
  }
  const total = deletions.reduce((sum, deletion) => sum + 1 + deletion.along.length, 0);
  draft.add(`\n> [!WARNING]\n> **${counted(total, 'object')} will be deleted from the service.**\n`);
  const lines = deletions.map(({ change, along }) => {
    const where = change.kind === 'entity' ? '' : ` of ${code(entityOf(change.address))}`;
    const rest = along.length === 0 ? '' : `, with its ${countKinds(along)}`;
    return `- delete ${KIND_NAMES[change.kind]} ${code(shortName(change.address))}${where}${rest}`;
  });
  addList(draft, lines, DELETION_BUDGET, (count) => `- … and ${counted(count, 'more deletion')}, not listed here`);
}

function addRenames(draft: Draft, { plan }: PlanReport): void {
  if (plan.renames.length === 0) {
    return;
  }
  draft.add('\n**Looks like a rename.** To keep id and history, add to the model:\n');
  const snippet = movedSnippet(plan);
  const fits = snippet.length < SECTION_BUDGET;
  draft.add(
    fits
      ? fenced('yaml', snippet)
      : `\n${counted(plan.renames.length, 'rename')}: too many to list here; run \`obsiac plan\`.\n`,
  );
}

function addDrift(draft: Draft, { plan }: PlanReport): void {
  if (plan.drift.length === 0) {
    return;
  }
  draft.add('\n**Changed in the service by others since the last apply:**\n');
  const lines = plan.drift.map((drift) => {
    return `- ${KIND_NAMES[drift.kind]} ${code(shortName(drift.address))} of ${code(entityOf(drift.address))} was ${drift.what}`;
  });
  addList(draft, lines, SECTION_BUDGET, (count) => `- … and ${count} more`);
}

function addChanges(draft: Draft, { plan }: PlanReport, reserved: number): void {
  const notice = (count: number) =>
    `\n… and changes in ${counted(count, 'more alert manager')}, left out for length.\n`;
  const groups = [...changesByEntity(plan)];
  for (const [index, [ref, changes]] of groups.entries()) {
    const room = draft.left - reserved - notice(groups.length).length;
    const block = entityBlock(ref, changes, true);
    const shorter = block.length <= room ? block : entityBlock(ref, changes, false);
    if (shorter.length > room) {
      draft.add(notice(groups.length - index));
      return;
    }
    draft.add(shorter);
  }
}

function entityBlock(ref: string, changes: readonly Change[], withFields: boolean): string {
  const counts = (['create', 'update', 'move', 'adopt'] as const).flatMap((action) => {
    const count = changes.filter((change) => change.action === action).length;
    const verb = { create: 'to add', update: 'to change', move: 'to move', adopt: 'to adopt' }[action];
    return count > 0 ? [`${count} ${verb}`] : [];
  });
  const lines = changes.flatMap((change) => changeLines(change, withFields));
  const note = withFields ? '' : '\nFields are left out for length.\n';
  const summary = `<summary><code>${escapeHtml(oneLine(ref))}</code>: ${counts.join(', ')}</summary>`;
  return `\n<details>${summary}\n${note}${fenced('diff', lines.join('\n'))}\n</details>\n`;
}

function changeLines(change: Change, withFields: boolean): readonly string[] {
  const symbol = change.action === 'create' ? '+' : change.action === 'adopt' ? '=' : '!';
  const verb = { create: '', update: '', move: 'move ', adopt: 'adopt ', delete: '', noop: '', forget: '' }[
    change.action
  ];
  const from = change.previousAddress === undefined ? '' : ` (from ${oneLine(shortName(change.previousAddress))})`;
  const where = change.source === undefined ? '' : `  ${oneLine(change.source.file)}:${change.source.line}`;
  const head = `${symbol} ${verb}${KIND_NAMES[change.kind]} ${oneLine(shortName(change.address))}${from}${where}`;
  if (!withFields) {
    return [cut(head)];
  }
  const fields = fieldsWorthShowing(change);
  const nameWidth = Math.max(0, ...fields.map((field) => field.path.length));
  const sign = change.action === 'create' ? '+' : ' ';
  return [
    cut(head),
    ...fields.flatMap((field) =>
      fieldLines(field, { nameWidth, width: FIELD_WIDTH, isNew: change.action === 'create' }).map((line, index) =>
        cut(`${line.sign === ' ' ? sign : line.sign}   ${index === 0 ? '' : '  '}${line.text}`),
      ),
    ),
  ];
}

function closingLines(report: PlanReport): string {
  const lines = [
    ...unmanagedLines(report.plan).map(escapeText),
    ...(report.savedAs === undefined
      ? []
      : [`Saved as ${code(report.savedAs)}; apply exactly this with ${code(report.applyCommand ?? '')}.`]),
  ];
  return lines.length === 0 ? '' : `\n${lines.join('\n')}\n`;
}

function cut(text: string, limit = LINE_LIMIT): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1).toWellFormed()}…`;
}

/** A code span that holds any text: it mentions no one, links nothing, and is fenced by more backticks than it has inside. */
function code(text: string): string {
  const shown = cut(oneLine(text));
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}

function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `\n${fence}${language}\n${text}\n${fence}\n`;
}

/** A sentence without meaning for Markdown or HTML; an `@` is kept from being a mention. */
function escapeText(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_{}[\]#|~]/g, '\\$&')
    .replace(/[&<>]/g, escapeHtml)
    .replace(/@(?=\w)/g, '@\u200b');
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
