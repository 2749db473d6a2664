/** A JSON reader that knows where everything stands and says in words what is wrong. */
import type { Path } from '../schema/path.ts';

/** A value with its span; `keys` holds the spans of an object's keys. Offsets are in the text, ends are exclusive. */
export interface JsonNode {
  readonly value: unknown;
  readonly from: number;
  readonly to: number;
  readonly items?: ReadonlyMap<string | number, JsonNode>;
  readonly keys?: ReadonlyMap<string, { readonly from: number; readonly to: number }>;
}

interface JsonProblem {
  readonly detail: string;
  readonly from: number;
  readonly to: number;
}

export type ReadJson = { readonly root: JsonNode } | { readonly problem: JsonProblem };

/** Deeper nesting than this is refused; a config has four levels. */
const MOST_LEVELS = 100;

/** Reads a text as JSON to the letter of RFC 8259, duplicate keys refused. Stops at the first mistake. */
export function readJson(text: string): ReadJson {
  const reader = new JsonReader(text);
  try {
    const root = reader.value(0);
    reader.space();
    if (reader.at < text.length)
      reader.fail('The file goes on after the end of its object. Remove what follows, or check the braces before it.');
    return { root };
  } catch (error) {
    if (error instanceof JsonStop) return { problem: error.problem };
    throw error;
  }
}

/** The node at a path, or the deepest one on the way to it. */
export function nodeAt(root: JsonNode, path: Path): JsonNode {
  let node = root;
  for (const key of path) {
    const next = node.items?.get(key);
    if (!next) return node;
    node = next;
  }
  return node;
}

class JsonStop extends Error {
  readonly problem: JsonProblem;

  constructor(problem: JsonProblem) {
    super(problem.detail);
    this.problem = problem;
  }
}

const LITERALS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

class JsonReader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  fail(detail: string, from = this.at, to = from + 1): never {
    throw new JsonStop({ detail, from, to });
  }

  space(): void {
    while (/[ \t\r\n]/.test(this.text[this.at] ?? '')) this.at++;
    const two = this.text.slice(this.at, this.at + 2);
    if (two === '//' || two === '/*' || two[0] === '#') this.fail('JSON has no comments. Remove this one.');
  }

  value(level: number): JsonNode {
    this.space();
    if (level > MOST_LEVELS) this.fail('Objects and lists stand inside each other too deep.');
    const char = this.text[this.at];
    if (char === '{') return this.object(level);
    if (char === '[') return this.array(level);
    if (char === '"') return this.string();
    if (char === "'") this.fail('JSON texts stand in double quotes ("), not in single ones.');
    return this.literal();
  }

  private object(level: number): JsonNode {
    const from = this.at++;
    const items = new Map<string, JsonNode>();
    const keys = new Map<string, { from: number; to: number }>();
    const value: Record<string, unknown> = {};
    for (this.space(); this.text[this.at] !== '}'; this.space()) {
      if (items.size > 0) this.separator('}', from);
      if (this.text[this.at] !== '"') this.fail('A key in double quotes is expected here.');
      const key = this.string();
      const name = key.value as string;
      if (items.has(name)) this.fail('This key stands twice in its object. Remove one.', key.from, key.to);
      if (name === '__proto__') this.fail('This key is a reserved word.', key.from, key.to);
      this.space();
      if (this.text[this.at] !== ':') this.fail('A colon is expected after the key.');
      this.at++;
      const item = this.value(level + 1);
      items.set(name, item);
      keys.set(name, { from: key.from, to: key.to });
      value[name] = item.value;
    }
    this.at++;
    return { value, from, to: this.at, items, keys };
  }

  private array(level: number): JsonNode {
    const from = this.at++;
    const items = new Map<number, JsonNode>();
    for (this.space(); this.text[this.at] !== ']'; this.space()) {
      if (items.size > 0) this.separator(']', from);
      items.set(items.size, this.value(level + 1));
    }
    this.at++;
    return { value: [...items.values()].map((item) => item.value), from, to: this.at, items };
  }

  /** A comma, with something after it. `from` is where the object or list was opened. */
  private separator(close: string, from: number): void {
    if (this.at >= this.text.length) {
      this.fail(`The "${this.text[from]}" that opens here is not closed. Add a "${close}".`, from);
    }
    if (this.text[this.at] !== ',') this.fail(`A comma or "${close}" is expected here.`);
    const comma = this.at++;
    this.space();
    if (this.text[this.at] === close) this.fail(`A comma cannot stand before "${close}". Remove it.`, comma);
  }

  private string(): JsonNode {
    const from = this.at;
    for (this.at++; this.text[this.at] !== '"'; this.at++) {
      const char = this.text[this.at];
      if (char === undefined || char === '\n') this.fail('The text that starts here has no closing quote.', from);
      if (char < ' ') this.fail('A control character stands in this text. Write it as an escape, such as \\t.');
      if (char === '\\') this.escape();
    }
    this.at++;
    return { value: JSON.parse(this.text.slice(from, this.at)), from, to: this.at };
  }

  private escape(): void {
    const sequence = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(this.text.slice(this.at, this.at + 6))?.[0];
    if (!sequence) this.fail('JSON has no such escape. Write \\\\ for a backslash.', this.at, this.at + 2);
    this.at += sequence.length - 1;
  }

  private literal(): JsonNode {
    const from = this.at;
    const word = /^[^\s,:{}[\]"]+/.exec(this.text.slice(from, from + 400))?.[0] ?? '';
    if (word === '') {
      this.fail(from >= this.text.length ? 'The file ends where a value is expected.' : 'A value is expected here.');
    }
    this.at += word.length;
    const to = this.at;
    if (LITERALS.has(word)) return { value: LITERALS.get(word), from, to };
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(word)) return { value: Number(word), from, to };
    // The word is not repeated: it may be a token without quotes.
    return this.fail('This is not a JSON value. A text stands in double quotes.', from, to);
  }
}
