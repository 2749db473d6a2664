/** Reads a series' name and labels, `name{a="b"}` or `{"name", a="b"}`, from the formats that write them so. */
import { METRIC_NAME } from '../syntax/ast.ts';
import { unescapeString } from '../syntax/literals.ts';
import { problemAt, SyntaxStop } from '../syntax/problem.ts';

const METRIC = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const LABEL = /[a-zA-Z_][a-zA-Z0-9_]*/y;
const SPACE = /[ \t]*/y;

/** Which strings a format knows. */
export type Quoting = 'promql' | 'exposition';

/** A place in a text that moves forward. `end` bounds it: usually the end of a line. */
export class TextReader {
  readonly text: string;
  readonly end: number;
  at: number;

  constructor(text: string, from = 0, end = text.length) {
    this.text = text;
    this.at = from;
    this.end = end;
  }

  /** The next character, empty at the end. */
  peek(): string {
    return this.at < this.end ? this.text[this.at]! : '';
  }

  /** Takes what a sticky expression matches here; empty when it does not. */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? '';
    const taken = found.slice(0, this.end - this.at);
    this.at += taken.length;
    return taken;
  }

  skipSpace(): void {
    this.take(SPACE);
  }

  /** Leaves with a problem about the text from `from` to here, or to the next character. */
  fail(message: string, from = this.at): never {
    throw new SyntaxStop(problemAt(from, Math.max(from + 1, Math.min(this.at, this.end)), message));
  }
}

/** Reads a name with labels, the metric name as the label `__name__`. Throws `SyntaxStop`. */
export function readMetric(reader: TextReader, quoting: Quoting): Map<string, string> {
  const labels = new Map<string, string>();
  const name = reader.take(METRIC);
  if (name !== '') labels.set(METRIC_NAME, name);
  const before = reader.at;
  reader.skipSpace();
  if (reader.peek() !== '{') {
    if (name === '') reader.fail('A metric name or "{" is expected here.');
    reader.at = before;
    return labels;
  }
  reader.at++;
  readLabels(reader, quoting, labels);
  return labels;
}

function readLabels(reader: TextReader, quoting: Quoting, labels: Map<string, string>): void {
  for (;;) {
    reader.skipSpace();
    if (reader.peek() === '}') break;
    const from = reader.at;
    const quoted = isQuote(reader.peek(), quoting);
    const name = quoted ? readString(reader, quoting) : reader.take(LABEL);
    if (name === '') reader.fail('A label name is expected here.', from);
    reader.skipSpace();
    if (quoted && reader.peek() !== '=') set(reader, labels, METRIC_NAME, name, from);
    else readValue(reader, quoting, labels, name, from);
    reader.skipSpace();
    if (reader.peek() === ',') reader.at++;
    else if (reader.peek() !== '}') reader.fail('"," or "}" is expected here.');
  }
  reader.at++;
}

function readValue(
  reader: TextReader,
  quoting: Quoting,
  labels: Map<string, string>,
  name: string,
  from: number,
): void {
  if (reader.peek() !== '=') reader.fail('"=" is expected here.');
  reader.at++;
  reader.skipSpace();
  if (!isQuote(reader.peek(), quoting)) reader.fail('The value of a label stands in quotes.');
  set(reader, labels, name, readString(reader, quoting), from);
}

function set(reader: TextReader, labels: Map<string, string>, name: string, value: string, from: number): void {
  if (labels.has(name)) reader.fail(`The label ${name} is there twice.`, from);
  labels.set(name, value);
}

function isQuote(char: string, quoting: Quoting): boolean {
  return char === '"' || (quoting === 'promql' && (char === "'" || char === '`'));
}

function readString(reader: TextReader, quoting: Quoting): string {
  const from = reader.at;
  const quote = reader.peek();
  let at = from + 1;
  while (at < reader.end && reader.text[at] !== quote) at += reader.text[at] === '\\' && quote !== '`' ? 2 : 1;
  reader.at = Math.min(at + 1, reader.end);
  if (at >= reader.end) reader.fail('The string is not closed.', from);
  const body = reader.text.slice(from + 1, at);
  if (quote === '`') return body;
  if (quoting === 'exposition') return unescapeExposition(body);
  const result = unescapeString(body, quote);
  if ('value' in result) return result.value;
  return reader.fail(result.message, from + 1 + result.at);
}

/** The exposition format escapes three characters; any other backslash stands for itself. */
function unescapeExposition(body: string): string {
  return body.replace(/\\(["\\n])/g, (_all, char: string) => (char === 'n' ? '\n' : char));
}
