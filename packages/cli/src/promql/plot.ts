/** A small plot of series over time for a terminal, in Braille dots: two columns and four rows of dots a character. */
import { formatPlain, type Points } from '@obsiac/promql';

const DOTS = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
] as const;

/** Lines of the plot; empty when there is nothing finite to show. `width` and `height` are in characters. */
export function plot(series: readonly Points[], width: number, height: number): readonly string[] {
  const finite = series.flatMap(({ values }) => [...values].filter(Number.isFinite));
  const times = series.flatMap(({ times: each }) => [each[0] as number, each.at(-1) as number]).filter(Number.isFinite);
  if (finite.length === 0) return [];
  const low = finite.reduce((least, value) => Math.min(least, value));
  const high = finite.reduce((most, value) => Math.max(most, value));
  const labels = [short(high), short(low)];
  const gutter = Math.max(...labels.map((label) => label.length));
  const columns = Math.max(8, width - gutter - 3);
  const canvas = Array.from({ length: height }, () => new Uint8Array(columns));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const across = (time: number) => (to === from ? 0 : Math.round(((time - from) / (to - from)) * (columns * 2 - 1)));
  const down = (value: number) =>
    high === low ? height * 2 : Math.round(((high - value) / (high - low)) * (height * 4 - 1));
  const dot = (x: number, y: number) => {
    const row = canvas[y >> 2] as Uint8Array;
    row[x >> 1] = (row[x >> 1] as number) | (DOTS[y & 3]?.[x & 1] as number);
  };
  for (const { times: at, values } of series) {
    const step = at.reduce((least, time, index) => Math.min(least, time - (at[index - 1] ?? -Infinity)), Infinity);
    let before: { readonly x: number; readonly y: number; readonly time: number } | null = null;
    at.forEach((time, index) => {
      const value = values[index] as number;
      const here = Number.isFinite(value) ? { x: across(time), y: down(value), time } : null;
      // Points are joined where no step is missing between them; a gap stays a gap.
      const joined = here !== null && before !== null && time - before.time <= step ? before : here;
      if (here !== null && joined !== null) drawLine(joined, here, dot);
      before = here;
    });
  }
  return canvas.map((row, index) => {
    const label = index === 0 ? labels[0] : index === height - 1 ? labels[1] : '';
    return `${(label ?? '').padStart(gutter)} │${[...row].map((dots) => String.fromCodePoint(0x2800 + dots)).join('')}`;
  });
}

function drawLine(
  from: { readonly x: number; readonly y: number },
  to: { readonly x: number; readonly y: number },
  dot: (x: number, y: number) => void,
): void {
  const steps = Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y), 1);
  for (let step = 0; step <= steps; step += 1) {
    dot(Math.round(from.x + ((to.x - from.x) * step) / steps), Math.round(from.y + ((to.y - from.y) * step) / steps));
  }
}

function short(value: number): string {
  const text = formatPlain(value);
  return text.length <= 9 ? text : value.toPrecision(5);
}
