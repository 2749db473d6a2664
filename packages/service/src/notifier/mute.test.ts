import { describe, expect, it } from 'vitest';
import { isMuted } from './mute.ts';

const at = (text: string) => Date.parse(text);

function muted(when: string, windows: unknown[], schedule: Record<string, unknown> = {}): boolean {
  const recurring_mute_schedule = JSON.stringify({ enabled: true, timezone: 'UTC', windows, ...schedule });
  return isMuted({ mute_until: 0, recurring_mute_schedule }, { snoozed_until: 0 }, at(when));
}

describe('a recurring mute', () => {
  // 2026-03-02 is a Monday.
  const night = [{ weekdays: ['mon'], start_time: '22:00', end_time: '06:00' }];
  const noon = [{ weekdays: ['mon', 'wed'], start_time: '12:00', end_time: '13:00' }];

  it.each([
    ['2026-03-02T11:59:59Z', noon, false],
    ['2026-03-02T12:00:00Z', noon, true],
    ['2026-03-02T12:59:59Z', noon, true],
    ['2026-03-02T13:00:00Z', noon, false],
    ['2026-03-03T12:30:00Z', noon, false],
    ['2026-03-04T12:30:00Z', noon, true],
    ['2026-03-02T05:00:00Z', night, false],
    ['2026-03-02T22:00:00Z', night, true],
    ['2026-03-03T00:00:00Z', night, true],
    ['2026-03-03T05:59:00Z', night, true],
    ['2026-03-03T06:00:00Z', night, false],
    ['2026-03-03T22:30:00Z', night, false],
  ])('at %s', (when, windows, expected) => {
    expect(muted(when, windows)).toBe(expected);
  });

  it('crosses the end of the week, and a window that ends where it begins lasts a day', () => {
    const saturday = [{ weekdays: ['sat'], start_time: '23:00', end_time: '01:00' }];
    expect(muted('2026-03-08T00:30:00Z', saturday)).toBe(true);
    expect(muted('2026-03-07T00:30:00Z', saturday)).toBe(false);
    const day = [{ weekdays: ['mon'], start_time: '08:00', end_time: '08:00' }];
    expect(
      ['2026-03-02T07:59:00Z', '2026-03-02T08:00:00Z', '2026-03-03T07:59:00Z', '2026-03-03T08:00:00Z'].map((when) =>
        muted(when, day),
      ),
    ).toEqual([false, true, true, false]);
  });

  it('is by the clock of its zone, in summer and in winter', () => {
    const berlin = { timezone: 'Europe/Berlin' };
    const window = [{ weekdays: ['mon'], start_time: '09:00', end_time: '10:00' }];
    expect(muted('2026-03-02T08:30:00Z', window, berlin)).toBe(true);
    expect(muted('2026-03-02T09:30:00Z', window, berlin)).toBe(false);
    expect(muted('2026-07-06T07:30:00Z', window, berlin)).toBe(true);
    expect(muted('2026-07-06T08:30:00Z', window, berlin)).toBe(false);
    const kolkata = { timezone: 'Asia/Kolkata' };
    expect(
      muted('2026-03-01T18:30:00Z', [{ weekdays: ['mon'], start_time: '00:00', end_time: '00:01' }], kolkata),
    ).toBe(true);
  });

  it('mutes nothing when it is off, empty, or in no zone that is known', () => {
    expect(muted('2026-03-02T12:30:00Z', noon, { enabled: false })).toBe(false);
    expect(muted('2026-03-02T12:30:00Z', [])).toBe(false);
    expect(muted('2026-03-02T12:30:00Z', [{ weekdays: [], start_time: '00:00', end_time: '23:59' }])).toBe(false);
    expect(muted('2026-03-02T12:30:00Z', noon, { timezone: 'Mars/Olympus' })).toBe(false);
  });
});

describe('a mute', () => {
  it('lasts until its second', () => {
    const until = at('2026-03-02T12:00:00Z') / 1000;
    const none = { mute_until: 0, recurring_mute_schedule: null };
    const before = at('2026-03-02T11:59:59.999Z');
    const after = at('2026-03-02T12:00:00Z');
    expect(isMuted({ ...none, mute_until: until }, { snoozed_until: 0 }, before)).toBe(true);
    expect(isMuted({ ...none, mute_until: until }, { snoozed_until: 0 }, after)).toBe(false);
    expect(isMuted(none, { snoozed_until: until }, before)).toBe(true);
    expect(isMuted(none, { snoozed_until: until }, after)).toBe(false);
    expect(isMuted({ ...none, mute_until: -1 }, { snoozed_until: 0 }, after)).toBe(true);
    expect(isMuted(none, { snoozed_until: 0 }, after)).toBe(false);
  });
});
