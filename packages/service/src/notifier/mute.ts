/** The mute stage: whether somebody asked for silence now. */
import { recurringMuteSchedule } from '@obsiac/api';
import type { z } from 'zod';
import type { AlertRuleRow, EntityRow } from '../metadata/tables.ts';

type Schedule = z.output<typeof recurringMuteSchedule>;

/** `mute_until` of a rule that is muted for ever. */
const FOR_EVER = -1;
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/**
 * True while the rule is muted, by itself or by its schedule, or its entity is snoozed.
 * @param nowMs unix milliseconds
 */
export function isMuted(
  rule: Pick<AlertRuleRow, 'mute_until' | 'recurring_mute_schedule'>,
  entity: Pick<EntityRow, 'snoozed_until'>,
  nowMs: number,
): boolean {
  if (rule.mute_until === FOR_EVER || isUntil(rule.mute_until, nowMs)) return true;
  return isUntil(entity.snoozed_until, nowMs) || isScheduled(rule.recurring_mute_schedule, nowMs);
}

/** @param until unix seconds, 0 for never */
export function isUntil(until: number, nowMs: number): boolean {
  return until * 1000 > nowMs;
}

function isScheduled(json: string | null, nowMs: number): boolean {
  const schedule = json === null ? undefined : recurringMuteSchedule.safeParse(JSON.parse(json)).data;
  if (schedule?.enabled !== true) return false;
  const local = localTime(schedule.timezone, nowMs);
  return local !== undefined && schedule.windows.some((window) => isInside(window, local));
}

interface LocalTime {
  /** 0 is Sunday. */
  readonly day: number;
  /** Minutes since midnight. */
  readonly minutes: number;
}

/** A window belongs to the days on which it begins; one that ends no later than it begins ends on the day after. */
function isInside(window: Schedule['windows'][number], { day, minutes }: LocalTime): boolean {
  const start = minutesOf(window.start_time);
  const end = minutesOf(window.end_time);
  const isOn = (which: number) => window.weekdays.includes(DAYS[(which + 7) % 7]!);
  if (start < end) return isOn(day) && minutes >= start && minutes < end;
  return (isOn(day) && minutes >= start) || (isOn(day - 1) && minutes < end);
}

function minutesOf(clock: string): number {
  const [hours, minutes] = clock.split(':');
  return Number(hours) * 60 + Number(minutes);
}

const formats = new Map<string, Intl.DateTimeFormat | undefined>();

/** Undefined when the zone is none that is known: then nothing is muted by it. */
function localTime(zone: string, nowMs: number): LocalTime | undefined {
  if (!formats.has(zone)) formats.set(zone, formatOf(zone));
  const parts = formats.get(zone)?.formatToParts(nowMs);
  if (parts === undefined) return undefined;
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? '';
  const day = DAYS.indexOf(part('weekday').toLowerCase() as (typeof DAYS)[number]);
  return { day, minutes: Number(part('hour')) * 60 + Number(part('minute')) };
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: timeZone === '' ? 'UTC' : timeZone,
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  } catch {
    return undefined;
  }
}
