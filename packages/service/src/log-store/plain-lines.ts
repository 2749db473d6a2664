/**
 * Tells lines that the engine can turn into records by itself from all others, without building objects: about one gigabyte of lines a
 * second. A plain line is a JSON object, written without white space, of distinct fields of its dataset whose values have their documented
 * kinds. Whatever is in doubt is not plain, and goes the slow and general way.
 */
import { DATASETS } from '@obsiac/model';
import { COLUMNS, type ColumnKind, RENAMED_FIELDS } from './columns.ts';
import { PLAIN_DATASETS } from './plain-datasets.ts';

/** `empty` is for fields without a column: plain only when there is nothing in them. */
type FieldKind = ColumnKind | 'empty';

/** The fields of a line in their order, in flat arrays, since this is what every byte of every line is held against. */
interface Layout {
  /** All of `{"Name":` and `,"Name":`, one after another. */
  readonly prefixes: Uint8Array;
  /** Where each of them ends. */
  readonly ends: Int32Array;
  readonly kinds: readonly FieldKind[];
  /** 1 for fields that are texts. */
  readonly texts: Uint8Array;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const SMALL_N = 0x6e;
const SMALL_T = 0x74;
const NULL = new TextEncoder().encode('null');
const TRUE = new TextEncoder().encode('true');
const FALSE = new TextEncoder().encode('false');
/** More digits than these may not fit the engine's 64-bit integers and doubles exactly. */
const MAX_INTEGER_DIGITS = 18;
const MAX_TIME_DIGITS = 19;
const MAX_FLOAT_DIGITS = 15;
const NOT_PLAIN = -1;

/** 1 for bytes at which a plain run of a string ends. */
const ENDS_RUN = new Uint8Array(256)
  .fill(1, 0, 0x20)
  .fill(1, QUOTE, QUOTE + 1)
  .fill(1, BACKSLASH, BACKSLASH + 1);
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** Checks lines of one dataset, one batch or more. Lines must be good UTF-8. */
export class PlainLines {
  readonly #kinds: ReadonlyMap<string, FieldKind>;
  /** The fields of the line seen last, in its order: in a batch all lines have the same. */
  #layout: Layout = { prefixes: new Uint8Array(0), ends: new Int32Array(0), kinds: [], texts: new Uint8Array(0) };
  readonly #seen = new Set<string>();

  /** Undefined for datasets whose lines always go the general way. */
  static forDataset(dataset: string): PlainLines | undefined {
    return Object.hasOwn(PLAIN_DATASETS, dataset) ? new PlainLines(dataset) : undefined;
  }

  private constructor(dataset: string) {
    const kinds = new Map<string, FieldKind>();
    for (const name of Object.keys(DATASETS[dataset]?.fields ?? {})) {
      kinds.set(name, COLUMNS.get(RENAMED_FIELDS.get(name) ?? name) ?? 'empty');
    }
    for (const name of PLAIN_DATASETS[dataset]?.timestamps ?? []) kinds.set(name, 'time');
    this.#kinds = kinds;
  }

  /** Fields of all plain lines so far. */
  fields(): string[] {
    return [...this.#seen];
  }

  /** @param end just after the line's last byte, its line feed not counted. */
  isPlain(bytes: Buffer, start: number, end: number): boolean {
    return this.repeats(bytes, start, end) || this.#learnLayout(bytes, start, end);
  }

  /** Whether it is a plain line with the same fields in the same order as the plain line before it. */
  repeats(bytes: Buffer, start: number, end: number): boolean {
    const { prefixes, ends, kinds, texts } = this.#layout;
    if (kinds.length === 0) return false;
    let at = start;
    let expected = 0;
    for (let index = 0; index < kinds.length; index += 1) {
      const prefixEnd = ends[index] as number;
      while (expected < prefixEnd) {
        if (bytes[at] !== prefixes[expected]) return false;
        at += 1;
        expected += 1;
      }
      // Most values are texts, and this call is the one that the engine of the language makes part of the loop.
      at =
        texts[index] === 1 && bytes[at] === QUOTE
          ? skipString(bytes, at, end)
          : skipValue(bytes, at, end, kinds[index] as FieldKind);
      if (at === NOT_PLAIN) return false;
    }
    return bytes[at] === CLOSE_OBJECT && at + 1 === end;
  }

  #learnLayout(bytes: Buffer, start: number, end: number): boolean {
    const names = new Set<string>();
    const kinds: FieldKind[] = [];
    const prefixes: Buffer[] = [];
    let at = start;
    if (bytes[at] !== OPEN_OBJECT) return false;
    do {
      if (bytes[at + 1] !== QUOTE) return false;
      const nameEnd = skipString(bytes, at + 1, end);
      if (nameEnd === NOT_PLAIN || bytes[nameEnd] !== COLON) return false;
      const name = bytes.toString('latin1', at + 2, nameEnd - 1);
      const kind = this.#kinds.get(name);
      if (kind === undefined || names.has(name)) return false;
      names.add(name);
      kinds.push(kind);
      prefixes.push(bytes.subarray(at, nameEnd + 1));
      at = skipValue(bytes, nameEnd + 1, end, kind);
      if (at === NOT_PLAIN) return false;
    } while (bytes[at] === COMMA && at < end);
    if (bytes[at] !== CLOSE_OBJECT || at + 1 !== end) return false;
    this.#keepLayout(prefixes, kinds);
    for (const name of names) this.#seen.add(name);
    return true;
  }

  #keepLayout(prefixes: readonly Buffer[], kinds: readonly FieldKind[]): void {
    let length = 0;
    const ends = prefixes.map((prefix) => {
      length += prefix.length;
      return length;
    });
    this.#layout = {
      prefixes: Uint8Array.from(Buffer.concat(prefixes)),
      ends: Int32Array.from(ends),
      kinds,
      texts: Uint8Array.from(kinds.map((kind) => (kind === 'text' || kind === 'keyword' ? 1 : 0))),
    };
  }
}

/** The index just after the value at `at`, or NOT_PLAIN when the value is not of the kind. */
function skipValue(bytes: Buffer, at: number, end: number, kind: FieldKind): number {
  const first = bytes[at];
  if (first === SMALL_N) return skipWord(bytes, at, NULL);
  switch (kind) {
    case 'keyword':
    case 'text':
      return first === QUOTE ? skipString(bytes, at, end) : NOT_PLAIN;
    case 'integer':
      return skipInteger(bytes, at, MAX_INTEGER_DIGITS);
    case 'float':
      return skipFloat(bytes, at);
    case 'boolean':
      return skipWord(bytes, at, first === SMALL_T ? TRUE : FALSE);
    case 'time':
      return first === QUOTE ? skipTime(bytes, at, end) : skipInteger(bytes, at, MAX_TIME_DIGITS);
    case 'list':
      return skipList(bytes, at, end);
    case 'empty':
      return skipEmpty(bytes, at);
  }
}

/** From the opening quote to just after the closing one. */
function skipString(bytes: Buffer, open: number, end: number): number {
  let at = open + 1;
  for (;;) {
    while (ENDS_RUN[bytes[at] as number] === 0) at += 1;
    if (at >= end) return NOT_PLAIN;
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] !== BACKSLASH) return NOT_PLAIN;
    at = skipEscape(bytes, at + 1);
    if (at === NOT_PLAIN) return NOT_PLAIN;
  }
}

/** Surrogates are left to the general way: half of a pair is not text for the engine. */
function skipEscape(bytes: Buffer, at: number): number {
  const char = bytes[at] as number;
  if (char !== 0x75) return '"\\/bfnrt'.includes(String.fromCharCode(char)) ? at + 1 : NOT_PLAIN;
  const hex = bytes.toString('latin1', at + 1, at + 5);
  return /^[0-9a-fA-F]{4}$/.test(hex) && !/^[dD][89a-fA-F]/.test(hex) ? at + 5 : NOT_PLAIN;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function skipInteger(bytes: Buffer, start: number, maxDigits: number): number {
  const negative = bytes[start] === MINUS;
  const first = negative ? start + 1 : start;
  let at = first;
  while (isDigit(bytes[at] as number)) at += 1;
  const digits = at - first;
  if (digits === 0 || digits > maxDigits) return NOT_PLAIN;
  if (bytes[first] === ZERO && (digits > 1 || negative)) return NOT_PLAIN;
  return at;
}

function skipFloat(bytes: Buffer, start: number): number {
  const whole = skipInteger(bytes, start, MAX_FLOAT_DIGITS);
  if (whole === NOT_PLAIN || bytes[whole] !== DOT) return whole;
  let at = whole + 1;
  while (isDigit(bytes[at] as number)) at += 1;
  return at === whole + 1 || at - start > MAX_FLOAT_DIGITS ? NOT_PLAIN : at;
}

function skipWord(bytes: Buffer, start: number, word: Uint8Array): number {
  for (let offset = 0; offset < word.length; offset += 1) {
    if (bytes[start + offset] !== word[offset]) return NOT_PLAIN;
  }
  return start + word.length;
}

function skipTime(bytes: Buffer, open: number, end: number): number {
  const after = skipString(bytes, open, end);
  if (after === NOT_PLAIN) return NOT_PLAIN;
  const text = bytes.toString('latin1', open + 1, after - 1);
  return text === '' || /^[1-9]\d{0,18}$/.test(text) || RFC_3339.test(text) ? after : NOT_PLAIN;
}

/** A list of texts and whole numbers. */
function skipList(bytes: Buffer, open: number, end: number): number {
  if (bytes[open] !== OPEN_LIST) return NOT_PLAIN;
  if (bytes[open + 1] === CLOSE_LIST) return open + 2;
  let at = open;
  do {
    at += 1;
    at = bytes[at] === QUOTE ? skipString(bytes, at, end) : skipInteger(bytes, at, MAX_INTEGER_DIGITS);
    if (at === NOT_PLAIN) return NOT_PLAIN;
  } while (bytes[at] === COMMA);
  return bytes[at] === CLOSE_LIST ? at + 1 : NOT_PLAIN;
}

function skipEmpty(bytes: Buffer, at: number): number {
  const [first, second] = [bytes[at], bytes[at + 1]];
  const empty =
    (first === OPEN_OBJECT && second === CLOSE_OBJECT) ||
    (first === OPEN_LIST && second === CLOSE_LIST) ||
    (first === QUOTE && second === QUOTE);
  return empty ? at + 2 : NOT_PLAIN;
}
