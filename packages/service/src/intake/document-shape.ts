/** Recognises bodies that are no batch of lines: Cloudflare's test of a destination, CSV, and records wrapped into one JSON document. */
import { isObject } from './normalise/exact-json.ts';

/** Longest body that may be a destination check. */
export const LONGEST_PROBE = 64;

/**
 * Whether the whole body is what Cloudflare uploads to try a destination: `{"content":"tests"}` by its documentation; `{"content":"test"}` and the bare
 * word `test` have been seen as well.
 */
export function isProbe(body: string): boolean {
  const text = body.trim();
  if (text === 'test' || text === 'tests') return true;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && Object.keys(value).join() === 'content' && typeof value['content'] === 'string';
  } catch {
    return false;
  }
}

const NDJSON =
  'Send one JSON object to a line: output_type "ndjson" with the default record prefix, suffix and delimiter.';
const FEW_LINES = 20;

/** What is known of the lines of a batch that were no records. */
export interface BadLines {
  /** Records of the batch that were good. */
  readonly accepted: number;
  readonly rejected: number;
  /** The first bad lines, in order. */
  readonly first: readonly string[];
  readonly last: string;
  /** Whether the first line of the batch is the first of them. */
  readonly fromStart: boolean;
}

/** Says what a batch is whose bad lines have a common cause, and what to do; undefined when each is bad by itself. */
export function wholeBatchProblem(lines: BadLines): string | undefined {
  const [first] = lines.first;
  if (first === undefined || !lines.fromStart) return undefined;
  const start = first.trimStart();
  const end = lines.last.trimEnd();
  if (start.startsWith('[') && end.endsWith(']')) return `The batch is a JSON array. ${NDJSON}`;
  if (/^\{\s*"[^"]*"\s*:\s*\[/.test(start) && /\]\s*\}$/.test(end)) return wrapped();
  if (lines.accepted > 0) return undefined;
  if (start.trimEnd() === '{') return `The batch is JSON spread over several lines. ${NDJSON}`;
  if (lines.first.every((line) => /^\s*\{.*\}\s*,\s*$/s.test(line))) {
    return `The records end with a comma. ${NDJSON}`;
  }
  return looksLikeCsv(lines.first.slice(0, FEW_LINES)) ? `The batch looks like CSV. ${NDJSON}` : undefined;
}

/** For a batch of a single line that is good JSON: records under one key, as `batch_prefix` and `batch_suffix` make them. */
export function wrappedRecords(record: unknown): string | undefined {
  if (!isObject(record)) return undefined;
  const [only, ...others] = Object.values(record);
  if (others.length > 0 || !Array.isArray(only) || only.length === 0 || !only.every(isObject)) return undefined;
  return wrapped();
}

function wrapped(): string {
  return `The batch is one JSON document with the records inside. ${NDJSON}`;
}

/** Every line has as many fields as the first, and enough of them for it to be no accident. */
function looksLikeCsv(lines: readonly string[]): boolean {
  return [',', ';', '\t', '|'].some((delimiter) => {
    const counts = lines.map((line) => fieldsOf(line, delimiter));
    const [first = 1] = counts;
    return first > 1 && counts.every((count) => count === first) && (lines.length > 1 || first > 3);
  });
}

/** Quoted fields may hold the delimiter; a quote inside is doubled or has a backslash. */
function fieldsOf(line: string, delimiter: string): number {
  const bare = line.replace(/"(?:[^"\\]|""|\\.)*"/g, '');
  return /[{}[\]]/.test(bare) ? 1 : bare.split(delimiter).length;
}
