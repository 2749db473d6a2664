/** A plan with what has to be said around it. */
import { type Change, type Plan, parseAddress } from '@obsiac/model';

export interface PlanReport {
  readonly plan: Plan;
  /** What the user is doing; decides the words around the plan. */
  readonly purpose: 'plan' | 'apply' | 'destroy';
  /** The file that the plan was saved in. */
  readonly savedAs?: string;
  /** The command that applies this plan, as it can be run. */
  readonly applyCommand?: string;
}

export const KIND_NAMES = {
  entity: 'alert manager',
  indicator: 'indicator',
  alert_rule: 'alert rule',
  channel: 'notification channel',
} as const;

/** The object's own name, without its alert manager: `"High errors"`, `checkout-api`, `"pager" (breach)`. */
export function shortName(address: string): string {
  const parsed = parseAddress(address);
  if (parsed === null || parsed.kind === 'entity') {
    return address;
  }
  if (parsed.kind !== 'channel') {
    return JSON.stringify(parsed.name);
  }
  const slash = parsed.name.lastIndexOf('/');
  return `${JSON.stringify(parsed.name.slice(0, slash))} (${parsed.name.slice(slash + 1)})`;
}

/** The `external_ref` that an address belongs to. */
export function entityOf(address: string): string {
  return parseAddress(address)?.entity ?? address;
}

/** What is deleted by its own request, each with the objects that the service deletes along with it. */
export interface Deletion {
  readonly change: Change;
  readonly along: readonly Change[];
}

export function deletionsOf(plan: Plan): readonly Deletion[] {
  const along = new Map<string, Change[]>();
  for (const change of plan.changes) {
    if (change.action === 'delete' && change.impliedBy !== undefined) {
      const group = along.get(change.impliedBy) ?? [];
      group.push(change);
      along.set(change.impliedBy, group);
    }
  }
  return plan.changes
    .filter((change) => change.action === 'delete' && change.impliedBy === undefined)
    .map((change) => ({ change, along: along.get(change.address) ?? [] }));
}

/** `4 indicators, 10 alert rules`. */
export function countKinds(changes: readonly Change[]): string {
  const counts: string[] = [];
  for (const [kind, name] of Object.entries(KIND_NAMES)) {
    const count = changes.filter((change) => change.kind === kind).length;
    if (count > 0) counts.push(counted(count, name));
  }
  return counts.join(', ');
}

/** `1 rule`, `2 rules`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/** Terraform's totals: what is rare is left out when it is zero. */
export function totalsLine(plan: Plan): string {
  const { create, update, delete: deleted, move, adopt } = plan.totals;
  const parts = [
    ...(adopt > 0 ? [`${adopt} to adopt`] : []),
    ...(move > 0 ? [`${move} to move`] : []),
    `${create} to add`,
    `${update} to change`,
    `${deleted} to destroy`,
  ];
  return `Plan: ${parts.join(', ')}.`;
}

/** Changes other than deletions, under the alert manager they belong to, in the order of the plan. */
export function changesByEntity(plan: Plan): ReadonlyMap<string, readonly Change[]> {
  const groups = new Map<string, Change[]>();
  for (const change of plan.changes) {
    if (change.action === 'noop' || change.action === 'delete' || change.action === 'forget') {
      continue;
    }
    const ref = entityOf(change.address);
    const group = groups.get(ref) ?? [];
    group.push(change);
    groups.set(ref, group);
  }
  return groups;
}

/** Sentences on what the service holds and neither model nor state knows. */
export function unmanagedLines(plan: Plan): readonly string[] {
  const { entities, indicators, alert_rules, channels } = plan.unmanaged;
  const lines: string[] = [];
  if (entities > 0) {
    lines.push(`${counted(entities, 'alert manager')} in the org ${entities === 1 ? 'is' : 'are'} not managed here.`);
  }
  const inside = [
    ...(indicators > 0 ? [counted(indicators, 'indicator')] : []),
    ...(alert_rules > 0 ? [counted(alert_rules, 'alert rule')] : []),
    ...(channels > 0 ? [counted(channels, 'notification channel')] : []),
  ];
  if (inside.length > 0) {
    const one = indicators + alert_rules + channels === 1;
    lines.push(`${inside.join(', ')} inside managed alert managers ${one ? 'is' : 'are'} not managed here.`);
  }
  return lines;
}

/** The lines to add to a model so that the suggested renames become binding. */
export function movedSnippet(plan: Plan): string {
  const lines = plan.renames.flatMap((rename) => [
    `  - from: ${JSON.stringify(rename.from)}`,
    `    to: ${JSON.stringify(rename.to)}`,
  ]);
  return ['moved:', ...lines].join('\n');
}
