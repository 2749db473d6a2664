/**
 * A fast reader for the YAML that nearly all models are written in: block mappings and lists, scalars on one line,
 * literal blocks, short lists in brackets. It gives the nodes that the full parser gives, several times faster, and
 * gives up at the first sign of anything else; then the full parser reads the same text. It never reports a mistake.
 */
import { Pair, type ParsedNode, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { literalBlock } from './literal-block.ts';
import { plainScalar, quotedScalar } from './plain-scalar.ts';

/** The node of a list item that stands at `from` to `to` of the text, its hyphen included; undefined to give up. */
export function readPlainItem(text: string, from: number, to: number): ParsedNode | undefined {
  const source = text.slice(from, to);
  if (/[\t\r\ufeff]/.test(source)) return undefined;
  const reader = new PlainReader(source, from);
  const list = reader.readNext(-1);
  const isWhole = list instanceof YAMLSeq && list.items.length === 1 && reader.nextColumn() === -1;
  return isWhole ? (list.items[0] as ParsedNode) : undefined;
}

const KEY = /([A-Za-z0-9_](?:[\w .%/()-]*[\w.%/()])?):(?=[ \n]|$)/y;
const REST_IS_EMPTY = / *(?: #.*)?(?:\n|$)/y;
/** No part of these can match the same text in two ways, so that a long line takes time in proportion. */
const FLOW_WORDS = '[A-Za-z_][\\w./-]*(?: +[\\w./-]+)*|"[^"\\\\\\n]*"|\'[^\'\\n]*\'';
const FLOW_LIST = new RegExp(`\\[ *(?:${FLOW_WORDS}) *(?:, *(?:${FLOW_WORDS}) *)*\\]`, 'y');
const FLOW_ITEM = new RegExp(FLOW_WORDS, 'g');

/** Longer texts in quotes and lists are rare, and too much for a regular expression. */
const LONGEST_LINE = 20_000;

/** Undefined stands for giving up, all the way through. */
class PlainReader {
  readonly text: string;
  /** Offset of the text in the file. */
  readonly base: number;
  at = 0;

  constructor(text: string, base: number) {
    this.text = text;
    this.base = base;
  }

  /** Goes to the next line with content, from the start of a line; gives its column, or -1 at the end. */
  nextColumn(): number {
    while (this.at < this.text.length) {
      const start = this.at;
      while (this.text.charCodeAt(this.at) === 32) this.at++;
      const code = this.text.charCodeAt(this.at);
      if (code !== 10 && code !== 35 && !Number.isNaN(code)) {
        const column = this.at - start;
        this.at = start;
        return column;
      }
      const end = this.text.indexOf('\n', this.at);
      this.at = end === -1 ? this.text.length : end + 1;
    }
    return -1;
  }

  /** The mapping or list on the next lines, which must be further in than `indent`. */
  readNext(indent: number): ParsedNode | undefined {
    const column = this.nextColumn();
    if (column <= indent) return undefined;
    return this.isItem(this.at + column) ? this.readList(column) : this.readMap(column, false);
  }

  private isItem(at: number): boolean {
    const after = this.text.charCodeAt(at + 1);
    return this.text.charCodeAt(at) === 45 && (after === 32 || after === 10 || Number.isNaN(after));
  }

  private readList(indent: number): ParsedNode | undefined {
    const list = new YAMLSeq();
    const start = this.at + indent;
    for (let column = indent; column === indent && this.isItem(this.at + indent); column = this.nextColumn()) {
      const hyphen = this.at + indent;
      const item = this.readItem(hyphen, indent);
      if (!item) return undefined;
      list.items.push(item);
    }
    return this.placed(list, start, this.at);
  }

  private readItem(hyphen: number, indent: number): ParsedNode | undefined {
    let content = hyphen + 1;
    while (this.text.charCodeAt(content) === 32) content++;
    KEY.lastIndex = content;
    if (KEY.test(this.text)) return this.readMap(content - this.at, true);
    REST_IS_EMPTY.lastIndex = hyphen + 1;
    const nested = REST_IS_EMPTY.test(this.text);
    if (!nested) return this.readScalar(content, indent);
    this.at = REST_IS_EMPTY.lastIndex;
    return this.readNext(indent);
  }

  /** A mapping at a column; `isCompact`: its first key stands on the line of a hyphen. */
  private readMap(indent: number, isCompact: boolean): ParsedNode | undefined {
    const map = new YAMLMap();
    const start = this.at + indent;
    let isFirst = isCompact;
    for (let column = indent; column === indent; column = this.nextColumn()) {
      const keyAt = this.at + indent;
      if (!isFirst && this.isItem(keyAt)) break;
      isFirst = false;
      KEY.lastIndex = keyAt;
      const name = KEY.exec(this.text)?.[1];
      if (name === undefined) return undefined;
      const key = this.scalar(name, name, Scalar.PLAIN, keyAt, keyAt + name.length);
      const value = this.readValue(KEY.lastIndex, indent);
      if (!value) return undefined;
      map.items.push(new Pair(key, value));
    }
    return map.items.length === 0 ? undefined : this.placed(map, start, this.at);
  }

  /** The value after the colon at `at - 1`, for a key at the column `indent`. */
  private readValue(at: number, indent: number): ParsedNode | undefined {
    REST_IS_EMPTY.lastIndex = at;
    if (!REST_IS_EMPTY.test(this.text)) {
      let content = at;
      while (this.text.charCodeAt(content) === 32) content++;
      return this.readScalar(content, indent);
    }
    this.at = REST_IS_EMPTY.lastIndex;
    const column = this.nextColumn();
    if (column > indent) return this.readNext(indent);
    // A list may stand at the column of its key.
    if (column === indent && this.isItem(this.at + column)) return this.readList(column);
    return this.scalar(null, '', Scalar.PLAIN, at, at);
  }

  /** A scalar or a short list that starts at `start` and ends with its line, or a literal block. */
  private readScalar(start: number, indent: number): ParsedNode | undefined {
    const char = this.text[start];
    if (char === '|') return this.readBlock(start, indent);
    if (char === '[' || char === '"' || char === "'") {
      const lineEnd = this.text.indexOf('\n', start);
      if ((lineEnd === -1 ? this.text.length : lineEnd) - start > LONGEST_LINE) return undefined;
    }
    if (char === '[') return this.readFlowList(start, indent);
    const read = char === '"' || char === "'" ? quotedScalar(this.text, start) : plainScalar(this.text, start);
    if (!read) return undefined;
    const node = this.scalar(read.value, read.source, read.type, start, read.to);
    return this.endLine(read.to, indent) ? node : undefined;
  }

  /** Goes to the next line, if nothing but a comment is left on this one and the next does not go on with the value. */
  private endLine(at: number, indent: number): boolean {
    REST_IS_EMPTY.lastIndex = at;
    if (!REST_IS_EMPTY.test(this.text)) return false;
    this.at = REST_IS_EMPTY.lastIndex;
    return this.nextColumn() <= indent;
  }

  private readBlock(start: number, indent: number): ParsedNode | undefined {
    const block = literalBlock(this.text, start, indent);
    if (!block) return undefined;
    this.at = block.to;
    return this.scalar(block.value, block.value, Scalar.BLOCK_LITERAL, start, block.to);
  }

  private readFlowList(start: number, indent: number): ParsedNode | undefined {
    FLOW_LIST.lastIndex = start;
    const written = FLOW_LIST.exec(this.text)?.[0];
    if (written === undefined) return undefined;
    const list = new YAMLSeq();
    list.flow = true;
    for (const match of written.matchAll(FLOW_ITEM)) {
      const at = start + match.index;
      const item = /^["']/.test(match[0]) ? quotedScalar(this.text, at) : plainScalar(match[0], 0);
      if (!item) return undefined;
      list.items.push(this.scalar(item.value, item.source, item.type, at, at + match[0].length));
    }
    const end = start + written.length;
    return this.endLine(end, indent) ? this.placed(list, start, end) : undefined;
  }

  private scalar(value: unknown, source: string, type: Scalar.Type, from: number, to: number): ParsedNode {
    const node = new Scalar(value);
    node.source = source;
    node.type = type;
    return this.placed(node, from, to);
  }

  private placed(node: Scalar | YAMLMap | YAMLSeq, from: number, to: number): ParsedNode {
    node.range = [this.base + from, this.base + to, this.base + to];
    return node as ParsedNode;
  }
}
