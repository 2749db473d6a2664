/** Checks a value against a zod schema and says what is wrong in our words, with the path of each problem. */
import type { z } from 'zod';
import type { Code } from '../check/codes.ts';
import { nearest, oneOf, quote } from '../check/nearest.ts';
import { knownFields, MISTAKEN_NAMES } from './known-fields.ts';
import type { Path } from './path.ts';
import type { TextProblem } from './text.ts';
import { expectedWords, typeHint, valueWords } from './type-words.ts';

/** One problem. `at` says what to underline: the value at the path, its key, or the object that lacks the field. */
export interface FieldProblem {
  readonly path: Path;
  readonly at: 'value' | 'key' | 'owner';
  readonly code: Code;
  readonly detail: string;
}

/** A checked value in which everything may be missing: what is wrong is `undefined`, but its key stays. */
export type Draft<T> = T extends readonly (infer Item)[]
  ? readonly (Draft<Item> | undefined)[]
  : T extends object
    ? { readonly [Key in keyof T]?: Draft<T[Key]> | undefined }
    : T;

export interface Checked<T> {
  /** True when nothing is wrong, not even what was reported before. */
  readonly isSound: boolean;
  readonly problems: readonly FieldProblem[];
  /** Undefined when the value as a whole is of the wrong type. */
  readonly draft: Draft<T> | undefined;
}

interface FoundProblem extends FieldProblem {
  /** For an unknown field: the path of the field that was probably meant. */
  readonly meant?: Path;
}

type Issue = z.core.$ZodIssue;

/**
 * Checks `value`, which must be plain JSON data; `what` names it in messages. Values that are wrong are set to
 * `undefined` in place. A key with the value `undefined` is one that was wrong before, and is not reported again.
 */
export function checkFields<T>(schema: z.ZodType<T>, value: unknown, what: string): Checked<T> {
  const result = schema.safeParse(value);
  if (result.success) return { isSound: true, problems: [], draft: result.data as Draft<T> };
  const found = oneForEachPath(result.error.issues.flatMap((issue) => problemsOf(issue, [], { schema, value, what })));
  const meant = new Set(found.flatMap((problem) => (problem.meant ? [JSON.stringify(problem.meant)] : [])));
  for (const problem of found) {
    setAt(value, problem.meant ?? problem.path);
  }
  return {
    isSound: false,
    // A field that is there under a misspelt name is not reported as missing too.
    problems: found.filter(({ code, path }) => code !== 'field/required' || !meant.has(JSON.stringify(path))),
    draft: found.some((problem) => problem.path.length === 0) ? undefined : (value as Draft<T>),
  };
}

interface Checking {
  readonly schema: z.ZodType;
  readonly value: unknown;
  readonly what: string;
}

/** A number can be beyond two limits at once; the last one found is the narrower. */
function oneForEachPath(found: readonly FoundProblem[]): FoundProblem[] {
  return [...new Map(found.map((problem) => [JSON.stringify(problem.path), problem])).values()];
}

function problemsOf(issue: Issue, prefix: Path, checking: Checking): FoundProblem[] {
  const path = [...prefix, ...(issue.path as (string | number)[])];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownField(path, key, checking));
    case 'invalid_union':
      return unionProblems(issue.errors, path, checking);
    default:
      return wasWrongBefore(checking.value, path) ? [] : [valueProblem(issue, path, checking)];
  }
}

function wasWrongBefore(root: unknown, path: Path): boolean {
  const owner = valueAt(root, path.slice(0, -1));
  const last = path.at(-1);
  if (last === undefined || typeof owner !== 'object' || owner === null) return false;
  return Object.hasOwn(owner, last) && (owner as Record<string | number, unknown>)[last] === undefined;
}

/** The problems of the branch that the value was meant for; when it fits none, one problem that names them all. */
function unionProblems(branches: readonly Issue[][], path: Path, checking: Checking): FoundProblem[] {
  const isWrongType = (issue: Issue) => issue.code === 'invalid_type' && issue.path.length === 0;
  const meant = branches.find((issues) => !issues.some(isWrongType));
  if (meant) return meant.flatMap((issue) => problemsOf(issue, path, checking));
  const expected = branches.flat().flatMap((issue) => (issue.code === 'invalid_type' ? [issue.expected] : []));
  return wasWrongBefore(checking.value, path) ? [] : [typeProblem(expected, path, checking)];
}

function unknownField(path: Path, key: string, checking: Checking): FoundProblem {
  const known = knownFields(checking.schema, path);
  const suggestion = MISTAKEN_NAMES.get(key)?.find((name) => known.includes(name)) ?? nearest(key, known);
  const all =
    known.length === 1 ? `The only field here is ${known[0]}.` : `The fields here are ${oneOf(known, 'and')}.`;
  const hint = suggestion === undefined ? all : `Did you mean ${quote(suggestion)}?`;
  return {
    path: [...path, key],
    at: 'key',
    code: 'field/unknown',
    detail: `There is no field ${quote(key)} here. ${hint}`,
    ...(suggestion !== undefined && { meant: [...path, suggestion] }),
  };
}

/** Fields whose limits are one rule together. */
const RANGE_CODES: Readonly<Record<string, Code>> = { bad_minutes: 'rule/window', total_minutes: 'rule/window' };

function valueProblem(issue: Issue, path: Path, checking: Checking): FoundProblem {
  const field = fieldName(path, checking.what);
  const value = valueAt(checking.value, path);
  switch (issue.code) {
    case 'custom': {
      const { code, detail } = issue.params as unknown as TextProblem;
      return { path, at: 'value', code, detail: `${field} ${detail}` };
    }
    case 'invalid_value': {
      const values = issue.values.map(String);
      return { path, at: 'value', code: 'field/value', detail: valueDetail(field, value, values) };
    }
    case 'too_small':
    case 'too_big': {
      const limit = issue.code === 'too_small' ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
      const code = RANGE_CODES[field] ?? 'field/value';
      return { path, at: 'value', code, detail: `${field} must be ${limit}, but is ${String(value)}.` };
    }
    case 'invalid_type':
      return typeProblem([issue.expected], path, checking);
    default:
      return { path, at: 'value', code: 'field/type', detail: `${field}: ${issue.message}.` };
  }
}

function valueDetail(field: string, value: unknown, values: readonly string[]): string {
  if (typeof value !== 'string') return `${field} is ${valueWords(value)}; it must be ${oneOf(values)}.`;
  if (field === 'severity' && /^(warn|info|minor|notice|low)/i.test(value)) {
    return `severity ${quote(value)} does not exist. Write threat for an early warning, or breach for what is already broken.`;
  }
  if (field === 'severity' && /^(crit|fatal|err|page|major|high)/i.test(value)) {
    return `severity ${quote(value)} does not exist. Write breach for what is already broken, or threat for an early warning.`;
  }
  const near = nearest(value, values);
  return `${field} is ${quote(value)}; it must be ${oneOf(values)}.${near === undefined ? '' : ` Did you mean ${near}?`}`;
}

function typeProblem(expected: readonly string[], path: Path, checking: Checking): FoundProblem {
  const field = fieldName(path, checking.what);
  const value = valueAt(checking.value, path);
  if (value === undefined && typeof path.at(-1) === 'string') {
    return { path, at: 'owner', code: 'field/required', detail: `The field ${field} is required. Add it.` };
  }
  const words = expectedWords(expected);
  const hint = typeHint(expected, path.at(-1), value);
  const detail = `${field} must be ${words}, but is ${valueWords(value)}.${hint}`;
  return { path, at: 'value', code: 'field/type', detail };
}

/** How a path is called in a sentence: its last field, with the field or list that it stands in where that helps. */
function fieldName(path: Path, what: string): string {
  const last = path.at(-1);
  const owner = path.at(-2);
  if (last === undefined) return what;
  if (typeof last === 'number') return `item ${last + 1} of ${typeof owner === 'string' ? owner : 'the list'}`;
  return typeof owner === 'string' ? `${owner}.${last}` : last;
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}

function setAt(root: unknown, path: Path): void {
  const owner = valueAt(root, path.slice(0, -1));
  const last = path.at(-1);
  if (last === undefined || typeof owner !== 'object' || owner === null) return;
  (owner as Record<string | number, unknown>)[last] = undefined;
}
