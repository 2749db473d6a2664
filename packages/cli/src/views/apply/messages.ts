/** What an apply says: each operation, how far it is, and what came of it. */
import type { Action } from '@obsiac/model';
import type { ApplyEvent, ApplyResult, Outcome } from '../../apply/apply.ts';
import { resourceJson } from '../plan/json.ts';
import { counted, KIND_NAMES, shortName } from '../plan/report.ts';
import { harmless, oneLine, type Style, wrap } from '../style.ts';
import type { JsonEvent, Message } from '../view.ts';
import { progressLine } from './progress.ts';

const DONE_WORDS: Readonly<Record<Action, string>> = {
  create: 'created',
  update: 'updated',
  delete: 'deleted',
  move: 'moved',
  adopt: 'adopted',
  noop: 'unchanged',
  forget: 'forgotten',
};

/** Failures beyond this many are counted, not listed: the JSON events have them all. */
const MOST_LISTED = 20;

/** `apply_progress` comes this many times in an apply, at even steps. */
const PROGRESS_STEPS = 10;

/** One step of the apply. Where a line can be redrawn it moves the bar; elsewhere it is a line when it is finished. */
export function applyStep(event: ApplyEvent): Message {
  if (event.type === 'start') {
    return { stream: 'out', json: () => [stepEvent('apply_start', event.outcome, 'info')] };
  }
  const { outcome, finished, total } = event;
  // What was not tried is counted at the end: a line for each would bury why.
  const isQuiet = outcome.action === 'noop';
  const hasLine = !isQuiet && event.type !== 'skipped';
  return {
    stream: 'out',
    ...(hasLine && { human: (style) => `${stepLine(event.type, outcome, style)}\n` }),
    status: (style) => progressLine(finished, total, outcome.address, style),
    json: () => [...(isQuiet ? [] : [finishedEvent(event.type, outcome)]), ...progressEvents(finished, total)],
  };
}

function stepLine(type: 'done' | 'failed' | 'skipped', outcome: Outcome, style: Style): string {
  const name = oneLine(outcome.address);
  return type === 'done'
    ? `${name}: ${style.add(DONE_WORDS[outcome.action])}`
    : `${name}: ${style.remove(type)}: ${oneLine(outcome.reason ?? '')}`;
}

function stepEvent(type: string, outcome: Outcome, level: 'info' | 'error' | 'warn'): JsonEvent {
  const { address, kind, action, id, ms, reason, error } = outcome;
  return {
    type,
    level,
    message: `${KIND_NAMES[kind]} ${shortName(address)}: ${type.replace('apply_', '')} ${action}`,
    hook: {
      resource: resourceJson(address, kind),
      action,
      ...(id !== undefined && { id_key: 'id', id_value: id }),
      ...(type === 'apply_start' ? {} : { elapsed_seconds: Math.round(ms) / 1000 }),
    },
    ...(reason !== undefined && { reason }),
    ...(error !== undefined && { error: { code: error.code, status: error.status } }),
  };
}

function finishedEvent(type: 'done' | 'failed' | 'skipped', outcome: Outcome): JsonEvent {
  switch (type) {
    case 'done':
      return stepEvent('apply_complete', outcome, 'info');
    case 'failed':
      return stepEvent('apply_errored', outcome, 'error');
    case 'skipped':
      return stepEvent('apply_skipped', outcome, 'warn');
  }
}

function progressEvents(finished: number, total: number): readonly JsonEvent[] {
  const step = (count: number) => Math.floor((count * PROGRESS_STEPS) / Math.max(1, total));
  return step(finished) > step(finished - 1)
    ? [{ type: 'apply_progress', message: `${finished} of ${total} done`, finished, total }]
    : [];
}

/** How an apply ended. */
export function applyEnded(result: ApplyResult, purpose: 'apply' | 'destroy'): Message {
  return {
    stream: 'out',
    human: (style) => endText(result, purpose, style),
    json: () => [summaryEvent(result, purpose)],
  };
}

interface Counts {
  readonly add: number;
  readonly change: number;
  readonly remove: number;
  readonly move: number;
  readonly adopt: number;
}

function countsOf(outcomes: readonly Outcome[]): Counts {
  const count = (action: Action) => outcomes.filter((outcome) => outcome.action === action).length;
  return {
    add: count('create'),
    change: count('update'),
    remove: count('delete'),
    move: count('move'),
    adopt: count('adopt'),
  };
}

function countsText({ add, change, remove, move, adopt }: Counts): string {
  return [
    ...(adopt > 0 ? [`${adopt} adopted`] : []),
    ...(move > 0 ? [`${move} moved`] : []),
    `${add} added`,
    `${change} changed`,
    `${remove} destroyed`,
  ].join(', ');
}

function endText(result: ApplyResult, purpose: 'apply' | 'destroy', style: Style): string {
  const word = purpose === 'destroy' ? 'Destroy' : 'Apply';
  const counts = countsText(countsOf(result.done));
  if (result.exit === 0) {
    return `\n${style.add(style.strong(`${word} complete! Resources: ${counts}.`))}\n`;
  }
  const failures = result.failed.slice(0, MOST_LISTED).map((outcome) => failureLine(outcome, style));
  const more = result.failed.length - failures.length;
  const lines = [
    '',
    style.remove(style.strong(`${word} incomplete. Resources: ${counts}.`)),
    ...(result.stopped === undefined ? [] : [wrap(harmless(result.stopped), style.width)]),
    ...failures,
    ...(more > 0 ? [`  … and ${counted(more, 'more failure')}`] : []),
    ...(result.skipped.length > 0
      ? [`${counted(result.skipped.length, 'object')} not tried, since what they need was not done.`]
      : []),
    nextStep(result),
  ];
  return `${lines.join('\n')}\n`;
}

function failureLine(outcome: Outcome, style: Style): string {
  const reason = wrap(harmless(outcome.reason ?? 'It failed.'), style.width, '      ');
  return `  ${style.remove('failed')} ${KIND_NAMES[outcome.kind]} ${oneLine(outcome.address)}\n${reason}`;
}

function nextStep({ exit }: ApplyResult): string {
  switch (exit) {
    case 7:
      return 'Nothing was changed. Make a new plan.';
    case 1:
    case 4:
      return 'Nothing was changed.';
    default:
      return 'What was done is in the state. Run apply again for the rest.';
  }
}

function summaryEvent(result: ApplyResult, purpose: 'apply' | 'destroy'): JsonEvent {
  const counts = countsOf(result.done);
  return {
    type: 'change_summary',
    level: result.exit === 0 ? 'info' : 'error',
    message: `${result.exit === 0 ? 'Apply complete' : 'Apply incomplete'}: ${countsText(counts)}`,
    changes: { ...counts, operation: purpose },
    failed: result.failed.length,
    skipped: result.skipped.length,
    ...(result.stopped !== undefined && { stopped: result.stopped }),
  };
}
