/** Regular expressions as Prometheus matches them: RE2 syntax, the whole value, `.` also for line ends, linear time. */
import { RE2JS } from 're2js';

export interface AnchoredRegex {
  readonly pattern: string;
  /** Every value it matches, when those are a short known list; an index can look them up instead of scanning. */
  readonly literals: readonly string[] | undefined;
  /** What every matching value starts with; often empty. */
  readonly prefix: string;
  /** True when the whole value matches. */
  matches(value: string): boolean;
  /**
   * The template with `$1`, `${1}`, `$name` and `${name}` replaced by what the groups caught (Go's `Expand`), or
   * undefined when the value does not match. `$$` is a dollar sign; a group that is not there gives nothing.
   */
  expand(value: string, template: string): string | undefined;
}

export type RegexResult =
  | { readonly ok: true; readonly regex: AnchoredRegex }
  | { readonly ok: false; readonly message: string };

const MEMO_LIMIT = 2_000;
const memo = new Map<string, RegexResult>();

/** Compiles a pattern; the same pattern gives the same object. `message` says what RE2 dislikes. */
export function compileRegex(pattern: string): RegexResult {
  const known = memo.get(pattern);
  if (known !== undefined) return known;
  const result = compile(pattern);
  if (memo.size >= MEMO_LIMIT) memo.delete(memo.keys().next().value!);
  memo.set(pattern, result);
  return result;
}

function compile(pattern: string): RegexResult {
  const globs = readGlobs(pattern);
  if (globs !== undefined) return { ok: true, regex: globRegex(pattern, globs) };
  try {
    return { ok: true, regex: fullRegex(pattern, RE2JS.compile(pattern, RE2JS.DOTALL)) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, message: message.replace(/^error parsing regexp: /, '').replace('`(?s)', '`') };
  }
}

function fullRegex(pattern: string, re: RE2JS): AnchoredRegex {
  return {
    pattern,
    literals: undefined,
    prefix: literalPrefix(pattern),
    matches: (value) => re.matches(value),
    expand: (value, template) => expandWith(re, value, template),
  };
}

/** The plain characters a pattern starts with; empty when it has alternatives, which may start otherwise. */
function literalPrefix(pattern: string): string {
  if (pattern.includes('|')) return '';
  const plain = /^[^\\.+*?()|[\]{}^$]*/.exec(pattern)![0];
  // What a quantifier follows may be absent.
  return /^[*?{]/.test(pattern.slice(plain.length)) ? [...plain].slice(0, -1).join('') : plain;
}

/** Literals with gaps between them: `a.*b.+` is ['a', 'b', ''] with gaps of at least 0 and 1 characters. */
interface Glob {
  readonly literals: readonly string[];
  readonly gaps: readonly number[];
}

function globRegex(pattern: string, globs: readonly Glob[]): AnchoredRegex {
  const plain = globs.every((glob) => glob.gaps.length === 0);
  const literals = plain ? [...new Set(globs.map((glob) => glob.literals[0]!))] : undefined;
  const set = literals !== undefined && literals.length > 4 ? new Set(literals) : undefined;
  let full: RE2JS | undefined;
  return {
    pattern,
    literals,
    prefix: globs.length === 1 ? globs[0]!.literals[0]! : '',
    matches(value) {
      if (set !== undefined) return set.has(value);
      if (literals !== undefined) return literals.includes(value);
      return globs.some((glob) => matchesGlob(glob, value));
    },
    expand(value, template) {
      if (!this.matches(value)) return undefined;
      if (!template.includes('$')) return template;
      full ??= RE2JS.compile(pattern, RE2JS.DOTALL);
      return expandWith(full, value, template);
    },
  };
}

/** Greedy from the left; right because every gap takes any characters. */
function matchesGlob(glob: Glob, value: string): boolean {
  const { literals, gaps } = glob;
  const first = literals[0]!;
  if (gaps.length === 0) return value === first;
  if (!value.startsWith(first)) return false;
  let at = first.length;
  for (let i = 0; i < gaps.length - 1; i++) {
    const literal = literals[i + 1]!;
    const found = value.indexOf(literal, at + gaps[i]!);
    if (found === -1) return false;
    at = found + literal.length;
  }
  const last = literals[literals.length - 1]!;
  return value.length - last.length >= at + gaps[gaps.length - 1]! && value.endsWith(last);
}

/** Reads a pattern made of literals, `.*`, `.+` and alternatives of those; undefined for any other. */
function readGlobs(pattern: string): Glob[] | undefined {
  const group = /^\((?:\?:)?([^()]*)\)$/.exec(pattern);
  const inner = group !== null && !group[1]!.endsWith('\\') && !group[1]!.startsWith('?') ? group[1]! : pattern;
  const globs: Glob[] = [];
  let literals = [''];
  let gaps: number[] = [];
  for (let i = 0; i < inner.length; i++) {
    const char = inner[i]!;
    if (char === '|') {
      globs.push({ literals, gaps });
      literals = [''];
      gaps = [];
    } else if (char === '.') {
      const quantifier = inner[++i];
      const isGap = quantifier === '*' || quantifier === '+';
      // Two gaps side by side, a lazy or a repeated gap: left to the full engine.
      if (!isGap || '*+?{.'.includes(inner[i + 1] ?? ' ')) return undefined;
      gaps.push(quantifier === '+' ? 1 : 0);
      literals.push('');
    } else {
      const escaped = char === '\\';
      const literal = escaped ? inner[++i] : char;
      if (literal === undefined || (escaped ? !/[!-/:-@[-`{-~]/.test(literal) : '+*?()[]{}^$'.includes(literal))) {
        return undefined;
      }
      if ('*+?{'.includes(inner[i + 1] ?? ' ')) return undefined;
      literals[literals.length - 1] += literal;
    }
  }
  globs.push({ literals, gaps });
  return globs;
}

function expandWith(re: RE2JS, value: string, template: string): string | undefined {
  const matcher = re.matcher(value);
  if (!matcher.matches()) return undefined;
  const groups = matcher.groupCount();
  const names = re.namedGroups();
  return template.replace(/\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu, (all, braced, bare) => {
    if (all === '$$') return '$';
    const name: string = braced ?? bare;
    if (/^[0-9]+$/.test(name)) {
      const index = Number(name);
      return index <= groups ? (matcher.group(index) ?? '') : '';
    }
    return Object.hasOwn(names, name) ? (matcher.group(name) ?? '') : '';
  });
}
