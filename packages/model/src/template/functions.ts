/** The functions of a template: those of Go's text/template and those that Prometheus adds for alerts. */
import { parseValue } from '@obsiac/promql';
import { compares, isEqual } from './compare.ts';
import {
  humanize,
  humanize1024,
  humanizeDuration,
  humanizePercentage,
  humanizeTimestamp,
  parseDurationSeconds,
} from './humanize.ts';
import { sprintf } from './printf.ts';
import { matches, replaceAll } from './regex.ts';
import { bool, float, int, isTrue, printed, TemplateProblem, text, typeName, type Value } from './value.ts';

interface TemplateFunction {
  readonly least: number;
  readonly most: number;
  call(args: readonly Value[], room: number): Value;
}

function textOf(value: Value): string {
  if (value.kind === 'string') return value.text;
  throw new TemplateProblem(`takes a text, not ${typeName(value)}`);
}

/** A number, or a text that is one. */
function numberOf(value: Value): number {
  if (value.kind === 'float') return value.number;
  if (value.kind === 'int') return Number(value.integer);
  const number = value.kind === 'string' ? parseValue(value.text) : undefined;
  if (number === undefined) throw new TemplateProblem(`takes a number, not ${wrong(value)}`);
  return number;
}

function wrong(value: Value): string {
  return value.kind === 'string' ? JSON.stringify(value.text) : typeName(value);
}

const ofText = (change: (content: string) => string): TemplateFunction => ({
  least: 1,
  most: 1,
  call: ([value]) => text(change(textOf(value!))),
});

const ofNumber = (change: (number: number) => string): TemplateFunction => ({
  least: 1,
  most: 1,
  call: ([value]) => text(change(numberOf(value!))),
});

const equal = (name: 'eq' | 'ne', most: number): TemplateFunction => ({
  least: 2,
  most,
  call: (args) => bool(isEqual(name, args) === (name === 'eq')),
});

const comparing = (name: 'lt' | 'le' | 'gt' | 'ge'): TemplateFunction => ({
  least: 2,
  most: 2,
  call: ([left, right]) => bool(compares(name, left!, right!)),
});

const MANY = Number.POSITIVE_INFINITY;

/** `and` and `or` are here for their arguments alone: the executor stops at the first that decides. */
const FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  and: { least: 1, most: MANY, call: (args) => args.find((value) => !isTrue(value)) ?? args.at(-1)! },
  or: { least: 1, most: MANY, call: (args) => args.find(isTrue) ?? args.at(-1)! },
  not: { least: 1, most: 1, call: ([value]) => bool(!isTrue(value!)) },
  eq: equal('eq', MANY),
  ne: equal('ne', 2),
  lt: comparing('lt'),
  le: comparing('le'),
  gt: comparing('gt'),
  ge: comparing('ge'),
  len: { least: 1, most: 1, call: ([value]) => int(BigInt(lengthOf(value!))) },
  index: { least: 1, most: MANY, call: ([value, ...keys]) => keys.reduce(elementOf, value!) },
  print: { least: 0, most: MANY, call: (args) => text(print(args)) },
  println: { least: 0, most: MANY, call: (args) => text(`${args.map(printed).join(' ')}\n`) },
  printf: { least: 1, most: MANY, call: ([format, ...args], room) => text(sprintf(textOf(format!), args, room)) },
  html: { least: 0, most: MANY, call: (args) => text(escapeHtml(print(args))) },
  urlquery: { least: 0, most: MANY, call: (args) => text(escapeQuery(print(args))) },
  match: { least: 2, most: 2, call: ([pattern, subject]) => bool(matches(textOf(pattern!), textOf(subject!))) },
  reReplaceAll: {
    least: 3,
    most: 3,
    call: ([pattern, replacement, subject], room) =>
      text(replaceAll(textOf(pattern!), textOf(replacement!), textOf(subject!), room)),
  },
  title: ofText(title),
  toUpper: ofText((content) => eachChar(content, (char) => char.toUpperCase())),
  toLower: ofText((content) => eachChar(content, (char) => char.toLowerCase())),
  safeHtml: ofText((content) => content),
  stripPort: ofText(stripPort),
  stripDomain: ofText(stripDomain),
  urlQueryEscape: ofText(escapeQuery),
  parseDuration: { least: 1, most: 1, call: ([value]) => float(parseDurationSeconds(textOf(value!))) },
  humanize: ofNumber(humanize),
  humanize1024: ofNumber(humanize1024),
  humanizeDuration: ofNumber(humanizeDuration),
  humanizePercentage: ofNumber(humanizePercentage),
  humanizeTimestamp: ofNumber(humanizeTimestamp),
};

export function isFunction(name: string): boolean {
  return Object.hasOwn(FUNCTIONS, name);
}

/**
 * Calls a function.
 * @param room characters that the result may have
 * @throws TemplateProblem
 */
export function callFunction(name: string, args: readonly Value[], room: number): Value {
  const { least, most, call } = FUNCTIONS[name]!;
  if (args.length < least || args.length > most) {
    const wanted = least === most ? `${least}` : args.length < least ? `at least ${least}` : `at most ${most}`;
    throw new TemplateProblem(`${name} takes ${wanted} argument${wanted.endsWith(' 1') || wanted === '1' ? '' : 's'}`);
  }
  try {
    return call(args, room);
  } catch (error) {
    if (!(error instanceof TemplateProblem) || error.message.startsWith(name)) throw error;
    throw new TemplateProblem(`${name}: ${error.message.replace(/\.$/, '')}`);
  }
}

/** Bytes of a text, entries of a map. */
function lengthOf(value: Value): number {
  if (value.kind === 'string') return new TextEncoder().encode(value.text).length;
  if (value.kind === 'map') return value.entries.size;
  throw new TemplateProblem(`takes a text or labels, not ${typeName(value)}`);
}

function elementOf(value: Value, key: Value): Value {
  if (value.kind === 'map') return value.entries.get(textOf(key)) ?? text('');
  if (value.kind !== 'string') throw new TemplateProblem(`takes labels or a text, not ${typeName(value)}`);
  const bytes = new TextEncoder().encode(value.text);
  if (key.kind !== 'int') throw new TemplateProblem(`takes a whole number for a place in a text, not ${typeName(key)}`);
  const byte = bytes[Number(key.integer)];
  if (byte === undefined) throw new TemplateProblem(`${key.integer} is outside of the text`);
  return int(BigInt(byte));
}

/** A blank stands between two operands of which neither is a text. */
function print(args: readonly Value[]): string {
  return args.reduce((all, value, index) => {
    const before = args[index - 1];
    const apart = before !== undefined && before.kind !== 'string' && value.kind !== 'string';
    return `${all}${apart ? ' ' : ''}${printed(value)}`;
  }, '');
}

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  "'": '&#39;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  '\0': '\ufffd',
};

function escapeHtml(content: string): string {
  return content.replace(/[&'<>"\0]/g, (char) => HTML[char]!);
}

/** As the value of a parameter in an address. */
function escapeQuery(content: string): string {
  return encodeURIComponent(content.toWellFormed())
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

/** One character stays one, as in Go: the capital of ß is not SS. */
function eachChar(content: string, change: (char: string) => string): string {
  return content.replace(/\p{L}/gu, (char) => {
    const changed = change(char);
    return [...changed].length === 1 ? changed : char;
  });
}

/** The first letter of each word in its title form. */
function title(content: string): string {
  return content.replace(/(^|[^\p{L}\p{Nd}_'’])(\p{L})/gu, (_all, before: string, letter: string) => {
    return before + eachChar(letter, (char) => char.toUpperCase());
  });
}

function stripPort(address: string): string {
  const match = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:[\]]*)$/.exec(address);
  return match ? (match[1] ?? match[2] ?? '') : address;
}

/** `web-1.example.com:80` is `web-1:80`; an address by number stays. */
function stripDomain(address: string): string {
  const host = stripPort(address);
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(host) || host.includes(':')) return address;
  const port = host === address ? '' : address.slice(address.lastIndexOf(':'));
  return (host.split('.')[0] ?? '') + port;
}
