import { DATASETS, recogniseDataset } from '@obsiac/model';
import { describe, expect, test } from 'vitest';
import { batches, SIMULATED, type Simulation, simulate } from './simulate.ts';

const from = 1_790_000_000_000_000_000n;
const minute = 60_000_000_000n;
const simulation = (changes: Partial<Simulation> = {}): Simulation => ({
  dataset: 'http_requests',
  seed: 7,
  from,
  to: from + 10n * minute,
  rate: 5,
  incident: null,
  ...changes,
});

test('a seed decides everything', () => {
  const first = [...simulate(simulation())];
  expect([...simulate(simulation())]).toEqual(first);
  expect([...simulate(simulation({ seed: 8 }))]).not.toEqual(first);
});

describe.each(SIMULATED)('%s', (dataset) => {
  test('gives records that are recognised and lie in the window, to the nanosecond', () => {
    const lines = [...simulate(simulation({ dataset, to: from + minute }))];
    expect(lines.length).toBeGreaterThan(100);
    const timeField = DATASETS[dataset]?.timestamp_field as string;
    for (const line of lines) {
      expect(recogniseDataset(Object.keys(JSON.parse(line)))).toBe(dataset);
      const time = BigInt(new RegExp(`"${timeField}":(\\d+)`).exec(line)?.[1] as string);
      const start = timeField.endsWith('Ms') ? from / 1_000_000n : from;
      expect(time >= start && time < from + minute).toBe(true);
    }
  });
});

test('http_requests has about sixty fields, nearly all of the catalogue', () => {
  const names = Object.keys(JSON.parse(simulate(simulation()).next().value as string));
  const known = new Set(Object.keys(DATASETS['http_requests']?.fields ?? {}));
  expect(names.filter((name) => !known.has(name))).toEqual([]);
  expect(names.length).toBeGreaterThanOrEqual(55);
});

test('the rate is kept', () => {
  const lines = [...simulate(simulation({ rate: 20, to: from + 24n * 60n * minute }))];
  expect(lines.length / (20 * 86_400)).toBeCloseTo(1, 1);
});

test('an incident makes server errors inside its window', () => {
  const incident = { from: from + 4n * minute, to: from + 6n * minute };
  const share = (lines: readonly string[]) =>
    lines.filter((line) => /"EdgeResponseStatus":5/.test(line)).length / lines.length;
  const lines = [...simulate(simulation({ rate: 50, incident }))];
  const time = (line: string) => BigInt(/"EdgeStartTimestamp":(\d+)/.exec(line)?.[1] as string);
  expect(share(lines.filter((line) => time(line) >= incident.from && time(line) < incident.to))).toBeGreaterThan(0.05);
  expect(share(lines.filter((line) => time(line) < incident.from))).toBeLessThan(0.02);
});

test('batches keep their limits and lose nothing', () => {
  const lines = [...simulate(simulation())];
  const cut = [...batches(lines, { bytes: 40_000, records: 15 })];
  expect(cut.map(({ text }) => text).join('')).toBe(lines.map((line) => `${line}\n`).join(''));
  for (const { text, records } of cut) {
    expect(records).toBeLessThanOrEqual(15);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(40_000);
    expect(text.split('\n').length - 1).toBe(records);
  }
});
