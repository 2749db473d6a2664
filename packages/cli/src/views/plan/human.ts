/** A plan as text for people: what changes, grouped by alert manager, deletions apart, then the totals. */
import { type Change, type Drift, type FieldChange, hasChanges, type Source } from '@obsiac/model';
import { oneLine, type Style, wrap } from '../style.ts';
import { fieldLines } from './field.ts';
import {
  changesByEntity,
  counted,
  countKinds,
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

const FIELD_INDENT = '        ';
const SYMBOLS = { create: '+', update: '~', move: '~', adopt: '~', delete: '-', noop: ' ', forget: ' ' } as const;

export function planText(report: PlanReport, style: Style): string {
  const sections = [
    driftSection(report, style),
    changeSection(report, style),
    deletionSection(report, style),
    forgetSection(report, style),
    renameSection(report, style),
    totalsSection(report, style),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function place(source: Source | undefined, style: Style): string {
  return source === undefined ? '' : style.faint(`  ${oneLine(source.file)}:${source.line}`);
}

function driftSection({ plan }: PlanReport, style: Style): string {
  if (plan.drift.length === 0) {
    return '';
  }
  const line = (drift: Drift) => {
    const symbol = drift.what === 'deleted' ? style.remove('-') : style.change('~');
    const where = drift.kind === 'entity' ? '' : style.faint(` of ${oneLine(entityOf(drift.address))}`);
    const what = `${KIND_NAMES[drift.kind]} ${oneLine(shortName(drift.address))}`;
    return `  ${symbol} ${what}${where} was ${drift.what}${place(drift.source, style)}`;
  };
  const head = style.strong('Changed in the service by others since the last apply:');
  return [head, '', ...plan.drift.map(line)].join('\n');
}

function changeSection({ plan }: PlanReport, style: Style): string {
  const groups = changesByEntity(plan);
  if (groups.size === 0) {
    return '';
  }
  const entities = new Map(
    plan.changes.flatMap((change) => (change.kind === 'entity' ? [[change.address, change] as const] : [])),
  );
  const replaced = new Set(plan.changes.flatMap((change) => (change.action === 'delete' ? [change.address] : [])));
  const blocks = [...groups].map(([ref, changes]) => {
    const own = changes.find((change) => change.kind === 'entity');
    const head =
      own === undefined
        ? `    ${KIND_NAMES.entity} ${style.strong(oneLine(ref))}${place(entities.get(ref)?.source, style)}`
        : changeBlock(own, '', replaced, style);
    const children = changes.filter((change) => change !== own);
    return [head, ...children.map((change) => changeBlock(change, '    ', replaced, style))].join('\n');
  });
  return [style.strong('Obsiac will make these changes:'), ...blocks].join('\n\n');
}

function changeBlock(change: Change, indent: string, replaced: ReadonlySet<string>, style: Style): string {
  const fields = fieldsWorthShowing(change);
  const paint = change.action === 'create' ? style.add : change.action === 'adopt' ? style.note : style.change;
  const verb = change.action === 'adopt' || change.action === 'move' ? `${change.action} ` : '';
  const name = style.strong(oneLine(shortName(change.address)));
  const from = change.previousAddress === undefined ? '' : ` (from ${oneLine(shortName(change.previousAddress))})`;
  const mark = paint(`${symbolOf(change, replaced).padStart(3)} ${verb}`);
  const head = `${indent}${mark}${KIND_NAMES[change.kind]} ${name}${from}${reasonNote(change, style)}`;
  return [`${head}${place(change.source, style)}`, ...fieldBlock(fields, indent, style, change)].join('\n');
}

function symbolOf({ action, address, fields }: Change, replaced: ReadonlySet<string>): string {
  if (action === 'create' && replaced.has(address)) {
    return '-/+';
  }
  return action === 'adopt' && fields.length === 0 ? '' : SYMBOLS[action];
}

function reasonNote(change: Change, style: Style): string {
  switch (change.reason) {
    case 'drift':
      return style.note(' (brings back what others changed)');
    case 'interrupted':
      return style.note(' (ends what an earlier apply had begun)');
    default:
      return '';
  }
}

function fieldBlock(fields: readonly FieldChange[], indent: string, style: Style, change: Change): readonly string[] {
  const margin = indent + FIELD_INDENT;
  const nameWidth = Math.max(0, ...fields.map((field) => field.path.length));
  return fields.flatMap((field) => {
    const lines = fieldLines(field, {
      nameWidth,
      width: style.width - margin.length,
      isNew: change.action === 'create',
    });
    return lines.map(({ sign, text }, index) => {
      const painted = sign === '+' ? style.add(`+ ${text}`) : sign === '-' ? style.remove(`- ${text}`) : text;
      const shifted = index === 0 ? painted : `    ${sign === ' ' ? `  ${painted}` : painted}`;
      const where = index === 0 && field.source !== undefined && field.source.line !== change.source?.line;
      return `${margin}${shifted}${where ? place(field.source, style) : ''}`;
    });
  });
}

function deletionSection({ plan }: PlanReport, style: Style): string {
  const deletions = deletionsOf(plan);
  if (deletions.length === 0) {
    return '';
  }
  const lines = deletions.map(({ change, along }) => {
    const where = change.kind === 'entity' ? '' : ` of ${oneLine(entityOf(change.address))}`;
    const rest = along.length === 0 ? '' : `, with its ${countKinds(along)}`;
    return style.remove(`  - ${KIND_NAMES[change.kind]} ${oneLine(shortName(change.address))}${where}${rest}`);
  });
  return [style.remove(style.strong('Obsiac will DELETE from the service:')), '', ...lines].join('\n');
}

function forgetSection({ plan }: PlanReport, style: Style): string {
  const forgotten = plan.changes.filter((change) => change.action === 'forget');
  if (forgotten.length === 0) {
    return '';
  }
  const head = style.strong('Already gone from model and service; they leave the state:');
  return [head, '', ...forgotten.map((change) => `    forget ${oneLine(change.address)}`)].join('\n');
}

function renameSection({ plan }: PlanReport, style: Style): string {
  if (plan.renames.length === 0) {
    return '';
  }
  const head = style.note(
    style.strong(plan.renames.length === 1 ? 'This looks like a rename:' : 'These look like renames:'),
  );
  const pairs = plan.renames.map(
    (rename) => `    ${oneLine(rename.from)} -> ${oneLine(rename.to)}${place(rename.source, style)}`,
  );
  const advice = 'To keep id and history, add this to the model, or run again with --accept-moves:';
  return [head, '', ...pairs, '', advice, '', movedSnippet(plan)].join('\n');
}

function totalsSection(report: PlanReport, style: Style): string {
  const { plan } = report;
  const lines: string[] = [];
  if (hasChanges(plan)) {
    lines.push(style.strong(totalsLine(plan)));
    if (plan.totals.delete > 0 && report.purpose !== 'destroy') {
      lines.push(style.remove(`${counted(plan.totals.delete, 'object')} will be deleted; see the list above.`));
    }
  } else {
    lines.push(style.add(style.strong(`No changes. ${noChangesReason(report)}`)));
  }
  lines.push(...unmanagedLines(plan).map(style.faint));
  if (report.savedAs !== undefined) {
    lines.push('', `Saved the plan in ${report.savedAs}. To apply exactly this:`, '', `    ${report.applyCommand}`);
  } else if (report.purpose === 'plan' && hasChanges(plan) && report.applyCommand !== undefined) {
    lines.push('', wrap(`To apply it: ${report.applyCommand}`, style.width));
  }
  return lines.join('\n');
}

function noChangesReason(report: PlanReport): string {
  return report.purpose === 'destroy'
    ? 'The state manages nothing, so there is nothing to destroy.'
    : 'The service matches the model.';
}
