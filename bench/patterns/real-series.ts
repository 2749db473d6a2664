/**
 * Real series with typed labels, read from a folder that holds `typed-labels.json`, `windows.json` and `data/`, laid out
 * as the Numenta Anomaly Benchmark. Samples are five minutes apart mostly; a sample counts as one minute.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Macro } from '../../packages/model/src/index.ts';

export interface Label {
  readonly macro: Macro;
  /** Index of the sample. */
  readonly at: number;
}

export interface RealSeries {
  readonly name: string;
  readonly values: Float64Array;
  readonly labels: readonly Label[];
  /** First and last index of each stretch in which something unusual is known to happen, of any kind. */
  readonly windows: readonly (readonly [number, number])[];
}

interface LabelFile {
  readonly labels: Readonly<Record<string, readonly { readonly type: Macro; readonly time: string }[]>>;
}

type WindowFile = Readonly<Record<string, readonly (readonly [string, string])[]>>;

/** Throws when the folder is not of that layout. */
export function readRealSeries(folder: string): RealSeries[] {
  const { labels } = JSON.parse(readFileSync(path.join(folder, 'typed-labels.json'), 'utf8')) as LabelFile;
  const windows = JSON.parse(readFileSync(path.join(folder, 'windows.json'), 'utf8')) as WindowFile;
  return Object.entries(labels).map(([name, typed]) => {
    const rows = readFileSync(path.join(folder, 'data', name), 'utf8')
      .trim()
      .split('\n')
      .slice(1);
    const times = rows.map((row) => timeOf(row.slice(0, row.indexOf(','))));
    const indexOf = (time: string) =>
      Math.max(
        times.findLastIndex((one) => one <= timeOf(time)),
        0,
      );
    return {
      name,
      values: Float64Array.from(rows, (row) => Number.parseFloat(row.slice(row.indexOf(',') + 1))),
      labels: typed.map(({ type, time }) => ({ macro: type, at: indexOf(time) })),
      windows: (windows[name] ?? []).map(([from, to]) => [indexOf(from), indexOf(to)] as const),
    };
  });
}

const timeOf = (text: string): number => Date.parse(`${text.trim().slice(0, 19).replace(' ', 'T').padEnd(19, ':00')}Z`);
