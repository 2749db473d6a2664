/** The difference between two texts of several lines, by lines. */

export interface DiffLine {
  readonly sign: ' ' | '+' | '-';
  readonly text: string;
}

/** Above this many comparisons the texts are shown one after the other, since no one reads such a difference. */
const MOST_CELLS = 1_000_000;

/** Longest common subsequence by dynamic programming: every line of `before` is there with ` ` or `-`, of `after` with ` ` or `+`. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const left = before.replace(/\n$/, '').split('\n');
  const right = after.replace(/\n$/, '').split('\n');
  if (left.length * right.length > MOST_CELLS) {
    return [...left.map((text) => line('-', text)), ...right.map((text) => line('+', text))];
  }
  const lengths = commonLengths(left, right);
  const result: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      result.push(line(' ', left[i++] ?? ''));
      j++;
    } else if (i < left.length && (j >= right.length || (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0))) {
      result.push(line('-', left[i++] ?? ''));
    } else {
      result.push(line('+', right[j++] ?? ''));
    }
  }
  return result;
}

function line(sign: DiffLine['sign'], text: string): DiffLine {
  return { sign, text };
}

/** `lengths[i][j]`: how many lines `left` from i and `right` from j have in common. */
function commonLengths(left: readonly string[], right: readonly string[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  for (let i = left.length - 1; i >= 0; i--) {
    const row = lengths[i] ?? [];
    for (let j = right.length - 1; j >= 0; j--) {
      const below = lengths[i + 1] ?? [];
      row[j] = left[i] === right[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return lengths;
}

/** Leaves out runs of unchanged lines further than `context` from a change; each gap becomes one line that counts them. */
export function withContext(lines: readonly DiffLine[], context: number): readonly DiffLine[] {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some((other) => other.sign !== ' '),
  );
  const result: DiffLine[] = [];
  let skipped = 0;
  const closeGap = () => {
    if (skipped > 0) result.push(line(' ', `… ${skipped} unchanged line${skipped === 1 ? '' : 's'}`));
    skipped = 0;
  };
  lines.forEach((item, index) => {
    if (near[index]) {
      closeGap();
      result.push(item);
    } else {
      skipped++;
    }
  });
  closeGap();
  return result;
}
