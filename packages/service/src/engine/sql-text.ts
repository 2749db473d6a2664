/** Reads SQL text just far enough to bind parameters and to find clauses: what is code, what is quoted, what is a comment. */

/** A parameter that cannot be bound. `clickhouseCode` is the number a ClickHouse server would answer with. */
export class SqlTextError extends Error {
  readonly clickhouseCode: number;

  constructor(clickhouseCode: number, message: string) {
    super(message);
    this.clickhouseCode = clickhouseCode;
  }
}

const UNKNOWN_PARAMETER = 456;
const BAD_PARAMETER = 457;

/**
 * The index just after the quoted text or comment that starts at `start`, or `start` itself when code starts there.
 * Follows ClickHouse's lexer: '' "" `` with backslash escapes and doubled quotes, `--`, `# `, `#!`, block comments, $tag$ heredocs.
 */
export function skipNonCode(sql: string, start: number): number {
  const char = sql[start];
  if (char === "'" || char === '"' || char === '`') return endOfQuoted(sql, start, char);
  if (char === '-' && sql[start + 1] === '-') return endOfLine(sql, start);
  if (char === '#' && (sql[start + 1] === ' ' || sql[start + 1] === '!')) return endOfLine(sql, start);
  if (char === '/' && sql[start + 1] === '*') return endAfter(sql, '*/', start + 2);
  if (char === '$') {
    const tag = /^\$\w*\$/.exec(sql.slice(start, start + 66))?.[0];
    if (tag !== undefined) return endAfter(sql, tag, start + tag.length);
  }
  return start;
}

function endOfQuoted(sql: string, start: number, quote: string): number {
  let at = start + 1;
  while (at < sql.length) {
    if (sql[at] === '\\') at += 2;
    else if (sql[at] !== quote) at += 1;
    else if (sql[at + 1] === quote) at += 2;
    else return at + 1;
  }
  return sql.length;
}

function endOfLine(sql: string, start: number): number {
  return endAfter(sql, '\n', start);
}

function endAfter(sql: string, text: string, from: number): number {
  const found = sql.indexOf(text, from);
  return found === -1 ? sql.length : found + text.length;
}

/** A bare word of the code (keyword, identifier, number) and where it stands. */
export interface Word {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The bare words of the code, in order; quoted text and comments are left out. */
export function words(sql: string): Word[] {
  const found: Word[] = [];
  const word = /\w+/y;
  let at = 0;
  while (at < sql.length) {
    const past = skipNonCode(sql, at);
    if (past > at) {
      at = past;
      continue;
    }
    word.lastIndex = at;
    const match = word.exec(sql);
    if (match === null) {
      at += 1;
      continue;
    }
    found.push({ text: match[0], start: at, end: at + match[0].length });
    at += match[0].length;
  }
  return found;
}

/** Text as a ClickHouse string literal. The only function that turns outside text into SQL. */
export function quoteString(text: string): string {
  return `'${text.replace(/['\\\0\b\f\n\r\t]/g, (char) => ESCAPES[char] ?? '')}'`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "'": "\\'",
  '\\': '\\\\',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Text as a quoted identifier. */
export function quoteIdentifier(name: string): string {
  return `\`${name.replace(/[`\\\0\b\f\n\r\t]/g, (char) => (char === '`' ? '\\`' : (ESCAPES[char] ?? '')))}\``;
}

/**
 * The SQL with each `{name:Type}` outside quotes and comments replaced by a literal of that type.
 * Values are in the form ClickHouse's HTTP interface takes in `param_*`: text escaped as in TabSeparated, `\N` for NULL.
 * The engine parses every value but plain integers from a quoted string, so that a value can never become code.
 */
export function bindParameters(sql: string, values: ReadonlyMap<string, string>): string {
  const placeholder = /\{\s*([A-Za-z_]\w*)\s*:\s*/y;
  let bound = '';
  let copied = 0;
  let at = 0;
  while (at < sql.length) {
    const past = skipNonCode(sql, at);
    if (past > at) {
      at = past;
      continue;
    }
    placeholder.lastIndex = at;
    const match = sql[at] === '{' ? placeholder.exec(sql) : null;
    if (match === null) {
      at += 1;
      continue;
    }
    const typeStart = at + match[0].length;
    const close = endOfType(sql, typeStart);
    const name = match[1] ?? '';
    const value = values.get(name);
    if (value === undefined) throw new SqlTextError(UNKNOWN_PARAMETER, `Substitution \`${name}\` is not set`);
    bound += sql.slice(copied, at) + parameterLiteral(name, sql.slice(typeStart, close).trim(), value);
    at = close + 1;
    copied = at;
  }
  return bound + sql.slice(copied);
}

function endOfType(sql: string, start: number): number {
  let at = start;
  while (at < sql.length && sql[at] !== '}') {
    const past = skipNonCode(sql, at);
    at = past > at ? past : at + 1;
  }
  if (at >= sql.length) throw new SqlTextError(62, 'A parameter has no closing brace');
  return at;
}

const TEXT_TYPE = /^(LowCardinality\()?(Nullable\()?(String|FixedString\(\s*\d+\s*\))\)*$/;

function parameterLiteral(name: string, type: string, value: string): string {
  if (type === 'Identifier') return quoteIdentifier(unescapeTabSeparated(value));
  if (/^U?Int(8|16|32|64)$/.test(type)) {
    if (!/^-?\d{1,20}$/.test(value)) {
      throw new SqlTextError(
        BAD_PARAMETER,
        `Value ${quoteString(value)} cannot be parsed as ${type} for parameter '${name}'`,
      );
    }
    return value;
  }
  if (!/^[\w(),'/+\s-]+$/.test(type)) throw new SqlTextError(BAD_PARAMETER, `Parameter '${name}' has no usable type`);
  if (value === '\\N' && /^(LowCardinality\(\s*)?Nullable\(/.test(type)) return 'NULL';
  const text = TEXT_TYPE.test(type) ? unescapeTabSeparated(value) : value;
  return `CAST(${quoteString(text)}, ${quoteString(type)})`;
}

const UNESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '0': '\0' };

/** Undoes the escapes of ClickHouse's TabSeparated format. */
export function unescapeTabSeparated(text: string): string {
  return text.replace(/\\(x[0-9a-fA-F]{2}|[\s\S])/g, (_, escaped: string) =>
    escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped.slice(1), 16)) : (UNESCAPES[escaped] ?? escaped),
  );
}

/** What a statement asks of the engine: `write` takes data in, `read` answers rows, `control` kills, `other` is the rest. */
export type StatementKind = 'read' | 'write' | 'control' | 'other';

export function statementKind(sql: string): StatementKind {
  switch (words(sql)[0]?.text.toUpperCase()) {
    case 'SELECT':
    case 'WITH':
      return 'read';
    case 'INSERT':
      return 'write';
    case 'KILL':
      return 'control';
    default:
      return 'other';
  }
}

/** The name after a FORMAT that ends the statement, where it stands, or undefined. */
export function trailingFormat(sql: string): { name: string; start: number; end: number } | undefined {
  const all = words(sql);
  for (let index = all.length - 2; index >= 0; index -= 1) {
    const word = all[index];
    const name = all[index + 1];
    if (word === undefined || name === undefined || word.text.toUpperCase() !== 'FORMAT') continue;
    return { name: name.text, start: word.start, end: name.end };
  }
  return undefined;
}

/**
 * An INSERT whose data came with the request, rewritten to read it from a file: `input('…')` becomes `file(…)`, and an INSERT
 * without a SELECT becomes `FROM INFILE`. The engine reads files several times faster than data inside the statement.
 */
export function insertFromFile(sql: string, path: string, compression: 'none' | 'gzip'): string {
  const format = trailingFormat(sql);
  if (format === undefined) throw new SqlTextError(62, 'An INSERT with data needs a FORMAT');
  const head = sql.slice(0, format.start);
  const input = findInputFunction(head);
  if (input === undefined) {
    if (words(head).some((word) => word.text.toUpperCase() === 'SELECT')) {
      throw new SqlTextError(62, 'INSERT … SELECT with data reads it through input()');
    }
    return `${head} FROM INFILE ${quoteString(path)} COMPRESSION '${compression}' FORMAT ${format.name}`;
  }
  const file = `file(${quoteString(path)}, ${quoteString(format.name)}, ${input.structure}, '${compression}')`;
  return head.slice(0, input.start) + file + head.slice(input.end);
}

/** `input('structure')` in the code: where it stands and the structure as it is written, quotes included. */
function findInputFunction(sql: string): { start: number; end: number; structure: string } | undefined {
  for (const word of words(sql)) {
    if (word.text.toLowerCase() !== 'input') continue;
    const open = /^\s*\(\s*/.exec(sql.slice(word.end))?.[0];
    if (open === undefined) continue;
    const structureStart = word.end + open.length;
    if (sql[structureStart] !== "'") continue;
    const structureEnd = skipNonCode(sql, structureStart);
    const close = /^\s*\)/.exec(sql.slice(structureEnd))?.[0];
    if (close === undefined) continue;
    return {
      start: word.start,
      end: structureEnd + close.length,
      structure: sql.slice(structureStart, structureEnd),
    };
  }
  return undefined;
}
