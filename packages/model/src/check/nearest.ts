/** Finds the name that a user most likely meant. */

/** Edit distance that counts a swap of two neighbours as one edit (optimal string alignment). */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

/** Bounds the work for names from a file of any size. */
const MOST_CANDIDATES = 2000;

/**
 * The candidate nearest to `name`, or undefined when none is near: at most a third of the letters may differ.
 * Case, spaces, hyphens and underscores do not count.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const bare = (text: string) =>
    text
      .slice(0, 200)
      .toLowerCase()
      .replace(/[\s_-]+/g, '');
  const wanted = bare(name);
  if (wanted === '') return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  let tried = 0;
  for (const candidate of candidates) {
    if (++tried > MOST_CANDIDATES) break;
    const distance = editDistance(wanted, bare(candidate), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ` Did you mean "x"?`, or the empty string. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const near = nearest(name, candidates);
  return near === undefined ? '' : ` Did you mean ${quote(near)}?`;
}

const QUOTE_LIMIT = 80;

/** A user's text inside a sentence: in quotes, on one line, without control characters, cut when long. */
export function quote(text: string): string {
  const short = text.length > QUOTE_LIMIT ? `${text.slice(0, QUOTE_LIMIT).toWellFormed()}…` : text;
  return `"${short.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069"\\]/gu, escapeCharacter)}"`;
}

function escapeCharacter(char: string): string {
  if (char === '"' || char === '\\') return `\\${char}`;
  if (char === '\n') return '\\n';
  if (char === '\t') return '\\t';
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** `a`, `a or b`, `a, b or c`. */
export function oneOf(words: readonly string[], conjunction = 'or'): string {
  if (words.length <= 1) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`;
}
