import { describe, expect, it } from 'vitest';
import { dueMinute, slotOf, spreadOf } from './slots.ts';

describe('slots', () => {
  it('use more of the minute the more queries there are, and never all of it', () => {
    expect([1, 100, 101, 2000, 100_000].map(spreadOf)).toEqual([1, 1, 2, 20, 50]);
  });

  it('spread evenly, and are the same for the same query', () => {
    const slots = Array.from({ length: 5000 }, (_, index) => slotOf(`query ${index}`, 50));
    expect([...new Set(slots)].toSorted((a, b) => a - b)).toEqual([0, 10, 20, 30, 40]);
    for (let second = 0; second < 50; second += 10) {
      expect(slots.filter((slot) => slot === second).length).toBeGreaterThan(850);
    }
    expect(slotOf('query 7', 50)).toBe(slots[7]);
    expect(slotOf('query 7', 10)).toBe(0);
  });

  it('make a minute due when its samples have had their time and its slot has come', () => {
    const minute = 29_671_200;
    const at = (seconds: number) => (minute * 60 + seconds) * 1000;
    expect(dueMinute(at(60), 60, 0)).toBe(minute);
    expect(dueMinute(at(59.9), 60, 0)).toBe(minute - 1);
    expect(dueMinute(at(79), 60, 20)).toBe(minute - 1);
    expect(dueMinute(at(80), 60, 20)).toBe(minute);
  });
});
