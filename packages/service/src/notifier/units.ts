/** The group stage: which episodes one message tells of. */
import type { AlertEvent, Episode } from '@obsiac/model';
import type { NotifyContext, OpenEpisode } from './context.ts';

/** What one message tells of: an episode, or a group of them. */
export interface Unit {
  readonly id: string;
  readonly grouped: boolean;
  /** Those that fire; of a unit that fired and ended within this call those that fired. */
  readonly members: readonly OpenEpisode[];
  /** True when none of them fires any more. */
  readonly isOver: boolean;
}

/** A trigger whose end has not been told. */
export interface Told {
  readonly unit_id: string;
  readonly grouped: number;
}

/**
 * Units that fire, or fired and ended at this minute. A group stays what its first message made it, also when the rule is
 * switched over while it fires.
 */
export function unitsOf(context: NotifyContext, told: readonly Told[]): Unit[] {
  const open = new Map(context.open.map((each) => [each.episode.id, each]));
  const ended = endedAtOnce(context).filter(({ episode }) => !open.has(episode.id));
  const byGroup = Map.groupBy([...open.values(), ...ended], ({ episode }) => episode.groupId);
  const units: Unit[] = [];
  for (const [groupId, members] of byGroup) {
    if (!isGrouped(groupId, members, context, told)) {
      for (const member of members)
        units.push({ id: member.episode.id, grouped: false, members: [member], isOver: !open.has(member.episode.id) });
      continue;
    }
    const firing = members.filter(({ episode }) => open.has(episode.id));
    const isOver = firing.length === 0;
    units.push({ id: groupId, grouped: true, members: isOver ? members : firing, isOver });
  }
  return units;
}

/** Episodes that fired in `events` and are not open: they ended in the same call. */
function endedAtOnce({ events, open, explanations }: NotifyContext): OpenEpisode[] {
  const isOpen = new Set(open.map(({ episode }) => episode.id));
  return events
    .filter((event: AlertEvent) => event.kind === 'fired' && !isOpen.has(event.episode.id))
    .map(({ episode, value }) => ({ episode, value, explanation: explanations?.get(episode.id) ?? '' }));
}

function isGrouped(
  groupId: string,
  members: readonly OpenEpisode[],
  { definition }: NotifyContext,
  told: readonly Told[],
): boolean {
  const ids = new Set(members.map(({ episode }) => episode.id));
  const first = told.find(({ unit_id, grouped }) => (grouped === 1 ? unit_id === groupId : ids.has(unit_id)));
  return first === undefined ? definition?.rule.group_timeseries_notifications === 1 : first.grouped === 1;
}

/** The episodes of a unit among any. */
export function belongs(unit: Told, episode: Pick<Episode, 'id' | 'groupId'>): boolean {
  return unit.grouped === 1 ? episode.groupId === unit.unit_id : episode.id === unit.unit_id;
}
