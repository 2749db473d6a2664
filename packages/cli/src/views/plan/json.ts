/** A plan as JSON events: drift, one event a change, suggestions, totals. */
import { type Change, type Drift, type Plan, parseAddress, shownFields } from '@obsiac/model';
import { rangeJson } from '../range.ts';
import type { JsonEvent } from '../view.ts';
import { KIND_NAMES, type PlanReport, shortName, totalsLine, unmanagedLines } from './report.ts';

/** How an event names an object; `addr` is the word that Terraform's readers look for. */
export function resourceJson(address: string, kind: Change['kind']) {
  return {
    addr: address,
    kind,
    entity: parseAddress(address)?.entity ?? address,
    name: parseAddress(address)?.name || address,
  };
}

export function planEvents(report: PlanReport): readonly JsonEvent[] {
  const { plan } = report;
  return [
    ...plan.drift.map(driftEvent),
    ...plan.changes.filter((change) => change.action !== 'noop').map(changeEvent),
    ...plan.renames.map(
      (rename): JsonEvent => ({
        type: 'rename_suggestion',
        message: `${rename.from} looks renamed to ${rename.to}`,
        rename: { kind: rename.kind, from: rename.from, to: rename.to },
      }),
    ),
    summaryEvent(report),
  ];
}

function driftEvent(drift: Drift): JsonEvent {
  return {
    type: 'resource_drift',
    message: `${drift.address}: ${drift.what} in the service by others`,
    change: {
      resource: resourceJson(drift.address, drift.kind),
      action: drift.what === 'deleted' ? 'delete' : 'update',
    },
    ...(drift.source && { range: rangeJson(drift.source) }),
  };
}

function changeEvent(change: Change): JsonEvent {
  const fields = change.fields.length > 0 ? change.fields : shownFields(change);
  return {
    type: 'planned_change',
    message: `${KIND_NAMES[change.kind]} ${shortName(change.address)}: plan to ${change.action}`,
    change: {
      resource: resourceJson(change.address, change.kind),
      ...(change.previousAddress !== undefined && {
        previous_resource: resourceJson(change.previousAddress, change.kind),
      }),
      action: change.action,
      reason: change.reason,
      ...(change.id !== undefined && { id: change.id }),
      ...(change.impliedBy !== undefined && { implied_by: change.impliedBy }),
      fields: fields.map(({ path, before, after, source }) => ({
        path,
        ...(before !== undefined && { before }),
        ...(after !== undefined && { after }),
        ...(source && { range: rangeJson(source) }),
      })),
    },
    ...(change.source && { range: rangeJson(change.source) }),
  };
}

/** Terraform's counters `add`, `change`, `remove`, and ours beside them. */
function changesJson(totals: Plan['totals'], operation: string) {
  return {
    add: totals.create,
    change: totals.update,
    remove: totals.delete,
    move: totals.move,
    adopt: totals.adopt,
    operation,
  };
}

function summaryEvent(report: PlanReport): JsonEvent {
  const { plan } = report;
  return {
    type: 'change_summary',
    message: [totalsLine(plan), ...unmanagedLines(plan)].join(' '),
    changes: changesJson(plan.totals, report.purpose),
    unmanaged: plan.unmanaged,
    ...(report.savedAs !== undefined && { plan_file: report.savedAs, apply_command: report.applyCommand }),
  };
}
