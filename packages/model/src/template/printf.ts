/** `printf` with the verbs of Go's package fmt. What does not fit shows in the result, as in Go: `%!d(string=x)`. */
import { formatExponent, formatFixed, formatGeneral, formatHexadecimal, formatShortest } from './decimal.ts';
import { printed, TemplateProblem, typeName, type Value } from './value.ts';

/** Widths and precisions over this are refused as Go refuses those over a million. */
const LARGEST = 1000;

interface Flags {
  plus: boolean;
  minus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  width: number | undefined;
  precision: number | undefined;
}

/**
 * Formats the arguments.
 * @param room UTF-16 units that the result may have
 * @throws TemplateProblem when it has more
 */
export function sprintf(format: string, args: readonly Value[], room: number): string {
  return new Formatter(format, args, room).run();
}

class Formatter {
  readonly #format: string;
  readonly #args: readonly Value[];
  readonly #room: number;
  #at = 0;
  #next = 0;
  #reordered = false;
  #badIndex = false;
  #out = '';

  constructor(format: string, args: readonly Value[], room: number) {
    this.#format = format;
    this.#args = args;
    this.#room = room;
  }

  run(): string {
    while (this.#at < this.#format.length) {
      const percent = this.#format.indexOf('%', this.#at);
      if (percent === -1) {
        this.#out += this.#format.slice(this.#at);
        break;
      }
      this.#out += this.#format.slice(this.#at, percent);
      this.#at = percent + 1;
      this.#directive();
      if (this.#out.length > this.#room) throw new TemplateProblem(`gives more than ${this.#room} characters`);
    }
    if (!this.#reordered && this.#next < this.#args.length) {
      const extra = this.#args.slice(this.#next).map(described);
      this.#out += `%!(EXTRA ${extra.join(', ')})`;
    }
    return this.#out;
  }

  #directive(): void {
    this.#badIndex = false;
    const flags = this.#flags();
    this.#index();
    if (this.#peek() === '*') {
      this.#at += 1;
      this.#starWidth(flags);
    } else flags.width = this.#number('%!(BADWIDTH)');
    if (this.#peek() === '.') {
      this.#at += 1;
      this.#index();
      if (this.#peek() === '*') {
        this.#at += 1;
        const precision = this.#intArgument();
        if (precision === undefined) this.#out += '%!(BADPREC)';
        else if (precision >= 0) flags.precision = precision;
      } else flags.precision = this.#number('%!(BADPREC)') ?? 0;
    }
    this.#index();
    this.#verb(flags);
  }

  #peek(): string {
    return this.#format[this.#at] ?? '';
  }

  #flags(): Flags {
    const flags: Flags = {
      plus: false,
      minus: false,
      sharp: false,
      space: false,
      zero: false,
      width: undefined,
      precision: undefined,
    };
    const names: Record<string, 'plus' | 'minus' | 'sharp' | 'space' | 'zero'> = {
      '+': 'plus',
      '-': 'minus',
      '#': 'sharp',
      ' ': 'space',
      '0': 'zero',
    };
    for (let name = names[this.#peek()]; name !== undefined; name = names[this.#peek()]) {
      flags[name] = true;
      this.#at += 1;
    }
    return flags;
  }

  /** `[2]`: the argument that comes next, counted from 1. */
  #index(): void {
    if (this.#peek() !== '[') return;
    this.#reordered = true;
    const match = /^\[(\d{1,9})\]/.exec(this.#format.slice(this.#at, this.#at + 16));
    const index = Number(match?.[1]) - 1;
    const close = this.#format.indexOf(']', this.#at);
    this.#at = match ? this.#at + match[0].length : close === -1 ? this.#at + 1 : close + 1;
    if (match && index >= 0 && index < this.#args.length) this.#next = index;
    else this.#badIndex = true;
  }

  #number(complaint: string): number | undefined {
    const digits = /^\d*/.exec(this.#format.slice(this.#at))![0];
    this.#at += digits.length;
    if (digits === '') return undefined;
    if (Number(digits) <= LARGEST) return Number(digits);
    this.#out += complaint;
    return undefined;
  }

  #intArgument(): number | undefined {
    const value = this.#args[this.#next];
    if (this.#next < this.#args.length) this.#next += 1;
    if (value?.kind !== 'int' || value.integer > LARGEST || value.integer < -LARGEST) return undefined;
    return Number(value.integer);
  }

  #starWidth(flags: Flags): void {
    const width = this.#intArgument();
    if (width === undefined) this.#out += '%!(BADWIDTH)';
    else {
      flags.width = Math.abs(width);
      if (width < 0) flags.minus = true;
    }
  }

  #verb(flags: Flags): void {
    const point = this.#format.codePointAt(this.#at);
    if (point === undefined) {
      this.#out += '%!(NOVERB)';
      return;
    }
    const verb = String.fromCodePoint(point);
    this.#at += verb.length;
    if (verb === '%') this.#out += '%';
    else if (this.#badIndex) this.#out += `%!${verb}(BADINDEX)`;
    else if (this.#next >= this.#args.length) this.#out += `%!${verb}(MISSING)`;
    else {
      const value = this.#args[this.#next++]!;
      this.#out += formatted(verb, value, flags);
    }
  }
}

/** `string=hi`, as Go describes an argument it could not use. */
function described(value: Value): string {
  return value.kind === 'nil' ? '<nil>' : `${typeName(value)}=${printed(value)}`;
}

const bad = (verb: string, value: Value): string => `%!${verb}(${described(value)})`;

function formatted(verb: string, value: Value, flags: Flags): string {
  if (verb === 'T') return pad(typeName(value), flags);
  switch (value.kind) {
    case 'string':
      return ofText(verb, value.text, flags) ?? bad(verb, value);
    case 'float':
      return ofFloat(verb, value.number, flags) ?? bad(verb, value);
    case 'int':
      return ofInteger(verb, value.integer, flags) ?? bad(verb, value);
    case 'bool':
      return verb === 'v' || verb === 't' ? pad(String(value.flag), flags) : bad(verb, value);
    case 'nil':
      return verb === 'v' ? pad('<nil>', flags) : `%!${verb}(<nil>)`;
    case 'map':
      return verb === 'v' || verb === 's' ? pad(printed(value), flags) : bad(verb, value);
    case 'data':
      return verb === 'v' ? pad(printed(value), flags) : bad(verb, value);
  }
}

/** To the width, counted in characters. */
function pad(content: string, { width, minus, zero }: Flags): string {
  const missing = (width ?? 0) - [...content].length;
  if (missing <= 0) return content;
  if (minus) return content + ' '.repeat(missing);
  return (zero ? '0' : ' ').repeat(missing) + content;
}

function ofText(verb: string, content: string, flags: Flags): string | undefined {
  const cut = flags.precision === undefined ? content : [...content].slice(0, flags.precision).join('');
  switch (verb) {
    case 'v':
      return flags.sharp ? pad(quoted(content), flags) : pad(cut, flags);
    case 's':
      return pad(cut, flags);
    case 'q':
      return pad(flags.sharp && canBackquote(cut) ? `\`${cut}\`` : quoted(cut), flags);
    case 'x':
    case 'X':
      return pad(hexBytes(content, verb, flags), flags);
    default:
      return undefined;
  }
}

function hexBytes(content: string, verb: string, flags: Flags): string {
  const bytes = [...new TextEncoder().encode(content)].slice(0, flags.precision);
  const pairs = bytes.map((byte) => byte.toString(16).padStart(2, '0'));
  const prefix = flags.sharp ? '0x' : '';
  if (pairs.length === 0) return '';
  const joined = flags.space ? pairs.map((pair) => prefix + pair).join(' ') : prefix + pairs.join('');
  return verb === 'X' ? joined.toUpperCase() : joined;
}

function canBackquote(content: string): boolean {
  return !/[\p{Cc}`\ufeff]/u.test(content.replaceAll('\t', ''));
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** A text as a Go string literal. */
function quoted(content: string): string {
  return `"${[...content.toWellFormed()].map(escaped).join('')}"`;
}

function escaped(char: string): string {
  const known = ESCAPES[char];
  if (known !== undefined) return known;
  if (char === ' ' || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(char)) return char;
  const point = char.codePointAt(0)!;
  if (point < 0x20 || point === 0x7f) return `\\x${point.toString(16).padStart(2, '0')}`;
  if (point < 0x10000) return `\\u${point.toString(16).padStart(4, '0')}`;
  return `\\U${point.toString(16).padStart(8, '0')}`;
}

const DEFAULT_PRECISION = 6;

function ofFloat(verb: string, value: number, flags: Flags): string | undefined {
  const digits = floatDigits(verb, value, flags.precision);
  if (digits === undefined) return undefined;
  if (!Number.isFinite(value)) return special(digits, flags);
  return signed(verb === verb.toUpperCase() ? digits.toUpperCase() : digits, flags);
}

function floatDigits(verb: string, value: number, precision: number | undefined): string | undefined {
  switch (verb) {
    case 'v':
    case 'g':
    case 'G':
      return precision === undefined ? formatShortest(value) : formatGeneral(value, precision);
    case 'f':
    case 'F':
      return formatFixed(value, precision ?? DEFAULT_PRECISION);
    case 'e':
    case 'E':
      return formatExponent(value, precision ?? DEFAULT_PRECISION);
    case 'x':
    case 'X':
      return formatHexadecimal(value);
    default:
      return undefined;
  }
}

/** NaN and infinities: never filled with zeros; infinity always has its sign. */
function special(digits: string, flags: Flags): string {
  const sign = flags.plus ? '+' : flags.space ? ' ' : '';
  const shown = digits === 'NaN' ? sign + digits : sign === ' ' ? digits.replace('+', ' ') : digits;
  return pad(shown, { ...flags, zero: false });
}

/** Puts the sign that the flags ask for, and zeros between it and the digits. */
function signed(digits: string, flags: Flags): string {
  const negative = digits.startsWith('-');
  const sign = negative ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  const size = negative ? digits.slice(1) : digits;
  if (!flags.zero || flags.minus) return pad(sign + size, { ...flags, zero: false });
  return sign + size.padStart((flags.width ?? 0) - sign.length, '0');
}

const BASES: Readonly<Record<string, readonly [radix: number, prefix: string]>> = {
  v: [10, ''],
  d: [10, ''],
  b: [2, '0b'],
  o: [8, '0'],
  O: [8, ''],
  x: [16, '0x'],
  X: [16, '0X'],
};

const LARGEST_CODE_POINT = 0x10ffffn;

function ofInteger(verb: string, value: bigint, flags: Flags): string | undefined {
  if (verb === 'c' || verb === 'q') return pad(character(verb, value), flags);
  if (verb === 'U') {
    const point = `U+${value.toString(16).toUpperCase().padStart(4, '0')}`;
    return pad(flags.sharp ? `${point} '${character('c', value)}'` : point, flags);
  }
  const base = BASES[verb];
  if (base === undefined) return undefined;
  const [radix, prefix] = base;
  const size = (value < 0n ? -value : value).toString(radix);
  const padded = flags.precision === 0 && value === 0n ? '' : size.padStart(flags.precision ?? 0, '0');
  const shown = (verb === 'O' ? '0o' : flags.sharp ? prefix : '') + (verb === 'X' ? padded.toUpperCase() : padded);
  // A precision rules zero filling out.
  return signed((value < 0n ? '-' : '') + shown, { ...flags, zero: flags.zero && flags.precision === undefined });
}

function character(verb: string, value: bigint): string {
  const isOne = value >= 0n && value <= LARGEST_CODE_POINT && !(value >= 0xd800n && value < 0xe000n);
  const char = isOne ? String.fromCodePoint(Number(value)) : '\ufffd';
  if (verb === 'c') return char;
  return `'${char === "'" ? "\\'" : char === '"' ? '"' : escaped(char)}'`;
}
