/**
 * From what fires and ends to messages in the outbox: group, mute, dedup. What a channel was told is read from the outbox itself,
 * so that any process may do it at any time, and doing it again changes nothing.
 */
import type { NotificationMessage } from '@obsiac/api';
import type { Transaction } from 'kysely';
import type { Tables } from '../metadata/tables.ts';
import type { ChannelBinding, NotifyContext, NotifyMoment, RuleDefinition } from './context.ts';
import { messageOf } from './message.ts';
import { isMuted, isUntil } from './mute.ts';
import { isDue, repetitionOf } from './repeat.ts';
import { resolvesOf } from './resolve.ts';
import { closeTriggers, type Draft, insertDrafts, lastRepeats, type OpenTrigger, openTriggers } from './rows.ts';
import { type Unit, unitsOf } from './units.ts';

/**
 * Puts into the outbox what is to be said of one rule at one minute: what fires, what still fires, what ended. Call it in the
 * transaction that writes the episodes, for each minute in order, for every rule with open episodes, with events, or with an end that
 * a mute holds back (`closed` is 0 on a row of the rule).
 * @returns how many messages are new
 */
export async function enqueueNotifications(
  tx: Transaction<Tables>,
  context: NotifyContext,
  moment: NotifyMoment,
): Promise<number> {
  const told = await openTriggers(tx, context.organization.id, context.ruleId);
  const units = unitsOf(context, told);
  const drafts: Draft[] = [];
  const { definition } = context;
  const muted = definition !== undefined && isMuted(definition.rule, definition.entity, moment.nowMs);
  if (definition && !muted) {
    drafts.push(...(await beginnings(tx, { context, definition, units, told }, moment)));
  }
  const over = told.filter((trigger) => isOver(trigger, context));
  const resolves = muted ? [] : await resolvesOf(tx, context, over, moment.nowMs);
  drafts.push(...resolves.map(({ draft }) => draft));
  const count = drafts.length === 0 ? 0 : await insertDrafts(tx, drafts, moment);
  await closeTriggers(
    tx,
    resolves.map(({ trigger }) => trigger.id),
  );
  // What fired and ended within this call has its trigger only now, and its end in the next round of this function.
  const isNew = units.some((unit) => unit.isOver) && drafts.some((draft) => draft.event === 'trigger');
  return isNew ? count + (await enqueueNotifications(tx, { ...context, events: endsOf(context) }, moment)) : count;
}

/** Without what fired: the second round only ends. */
function endsOf({ events }: NotifyContext): NotifyContext['events'] {
  return events.filter(({ kind }) => kind === 'resolved');
}

function isOver(trigger: OpenTrigger, { open }: NotifyContext): boolean {
  return !open.some(({ episode }) =>
    trigger.grouped === 1 ? episode.groupId === trigger.unit_id : episode.id === trigger.unit_id,
  );
}

interface Beginnings {
  readonly context: NotifyContext;
  readonly definition: RuleDefinition;
  readonly units: readonly Unit[];
  readonly told: readonly OpenTrigger[];
}

/** Triggers for channels that have not heard of a unit, repeats for those that heard of it long ago. */
async function beginnings(
  tx: Transaction<Tables>,
  { context, definition, units, told }: Beginnings,
  moment: NotifyMoment,
): Promise<Draft[]> {
  const bindings = bindingsOf(definition, moment.nowMs);
  if (bindings.length === 0 || units.length === 0) return [];
  const knows = new Map(told.map((trigger) => [keyOf(trigger.unit_id, trigger.channel_id), trigger]));
  const repetition = repetitionOf(definition.entity);
  const old = told.filter((trigger) => isDue(repetition, trigger.minute, moment.minute));
  const repeats = old.length === 0 ? [] : await lastRepeats(tx, [...new Set(old.map(({ unit_id }) => unit_id))]);
  const last = new Map(repeats.map((repeat) => [keyOf(repeat.unit_id, repeat.channel_id), repeat]));
  const drafts: Draft[] = [];
  for (const unit of units) {
    const say = speaker(context, definition, unit);
    for (const binding of bindings) {
      const key = keyOf(unit.id, binding.channelId);
      const trigger = knows.get(key);
      if (trigger === undefined) drafts.push(say('trigger', 0, binding));
      else if (!unit.isOver) {
        const before = last.get(key);
        const sequence = (before?.sequence ?? 0) + 1;
        const isTime = isDue(repetition, before?.minute ?? trigger.minute, moment.minute);
        if (isTime && sequence <= repetition.most) drafts.push(say('repeat', sequence, binding));
      }
    }
  }
  return drafts;
}

const keyOf = (unitId: string, channelId: number): string => `${unitId} ${channelId}`;

/** The channels of the rule's severity that are not snoozed; a channel once. */
function bindingsOf({ rule, bindings }: RuleDefinition, nowMs: number): ChannelBinding[] {
  const chosen = bindings.filter(
    ({ severity, snoozeUntil }) => severity === rule.severity && !isUntil(snoozeUntil, nowMs),
  );
  return [...new Map(chosen.map((binding) => [binding.channelId, binding])).values()];
}

/** Makes drafts of one unit; its templates are rendered once for each event. */
function speaker(context: NotifyContext, definition: RuleDefinition, unit: Unit) {
  const messages = new Map<string, NotificationMessage>();
  return (event: 'trigger' | 'repeat', sequence: number, binding: ChannelBinding): Draft => {
    const message = messages.get(event) ?? messageOf(context, definition, unit, event);
    messages.set(event, message);
    return {
      organizationId: context.organization.id,
      entityId: context.entityId,
      ruleId: context.ruleId,
      unitId: unit.id,
      grouped: unit.grouped,
      event,
      sequence,
      channel: { id: binding.channelId, name: binding.name, type: binding.type },
      message: { ...message, mention: [...binding.mention] },
      closed: event !== 'trigger',
    };
  };
}
