/**
 * Turns YAML nodes into plain values: aliases and merge keys resolved, duplicate keys found. One reader reads all
 * parts of a file in order, so that an alias finds the last anchor before it even when the parts are parsed apart.
 */
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  type Pair,
  type ParsedNode,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { type Code, problem } from '../check/codes.ts';
import { quote } from '../check/nearest.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { type SourceFile, spanOf } from './source-file.ts';

/** Values that aliases may add to those that are written: far above any real model, far below what fills a memory. */
const MOST_ALIASED_VALUES = 500_000;

/** Characters that count as one value, so that an alias to a long text is not free. */
const CHARACTERS_A_VALUE = 100;

interface Anchor {
  readonly node: ParsedNode;
  /** Undefined while the node is being read: an alias to it then contains itself. */
  read?: { readonly value: unknown; readonly size: number };
}

export interface YamlReader {
  /** The plain value of a node. Numbers, booleans and null by the YAML 1.2 core schema. */
  readonly read: (node: ParsedNode | null) => unknown;
  /** The text of a key, or undefined when it cannot be one, which is reported. */
  readonly readKey: (key: ParsedNode) => string | undefined;
  /** The node that an alias which was read stands for. */
  readonly targetOf: (alias: Alias) => ParsedNode | undefined;
}

/** Problems are given to `add` as they are found. */
export function createYamlReader(source: SourceFile, add: (diagnostic: Diagnostic) => void): YamlReader {
  const anchors = new Map<string, Anchor>();
  const targets = new WeakMap<Alias, ParsedNode>();
  let size = 0;
  let aliased = 0;

  const report = (code: Code, detail: string, node: { range?: readonly number[] | null | undefined }) => {
    const [from = 0, to = from + 1] = node.range ?? [];
    add(problem(code, detail, spanOf(source, from, to)));
  };

  const readAlias = (alias: Alias.Parsed): unknown => {
    const anchor = anchors.get(alias.source);
    if (!anchor) {
      report('yaml/alias', `There is no anchor &${alias.source} before this alias.`, alias);
      return undefined;
    }
    if (!anchor.read) {
      report('yaml/alias', `The alias *${alias.source} stands inside its own anchor, so it has no end.`, alias);
      return undefined;
    }
    const before = aliased;
    aliased += anchor.read.size;
    size += anchor.read.size;
    if (aliased > MOST_ALIASED_VALUES) {
      if (before <= MOST_ALIASED_VALUES) report('yaml/alias-expansion', expansionDetail, alias);
      return undefined;
    }
    targets.set(alias, anchor.node);
    return anchor.read.value;
  };

  const readMap = (map: YAMLMap.Parsed): Record<string, unknown> => {
    const value: Record<string, unknown> = {};
    const merges: PlainMap[] = [];
    for (const pair of map.items) {
      if (isMergeKey(pair.key)) {
        merges.push(...mergedMaps(pair, read, report));
        continue;
      }
      const key = keyOf(pair.key, report);
      const item = read(pair.value);
      if (key === undefined) continue;
      if (Object.hasOwn(value, key)) {
        report('yaml/duplicate-key', `The key ${quote(key)} stands twice in this mapping. Remove one.`, pair.key);
      } else value[key] = item;
    }
    // What is written out wins over what is merged, and the first merged mapping over the later ones.
    for (const merged of merges) addMissing(value, merged);
    return value;
  };

  function read(node: ParsedNode | null): unknown {
    if (node === null) return null;
    if (isAlias(node)) return readAlias(node);
    const anchor: Anchor | undefined = node.anchor === undefined ? undefined : { node };
    if (anchor) anchors.set(node.anchor as string, anchor);
    const before = size;
    size += isScalar(node) ? 1 + Math.floor(String(node.source).length / CHARACTERS_A_VALUE) : 1;
    const value = isScalar(node) ? node.value : isMap(node) ? readMap(node) : (node as YAMLSeq.Parsed).items.map(read);
    if (anchor) anchor.read = { value, size: size - before };
    return value;
  }

  return { read, readKey: (key) => keyOf(key, report), targetOf: (alias) => targets.get(alias) };
}

const expansionDetail = `The aliases of this file expand to more than ${MOST_ALIASED_VALUES.toLocaleString('en-US')} values. Aliases of aliases multiply; write the values out or use fewer levels.`;

type Report = (code: Code, detail: string, node: { range?: readonly number[] | null | undefined }) => void;

/** `<<` without quotes. */
export const isMergeKey = (key: ParsedNode): boolean =>
  isScalar(key) && key.value === '<<' && (key.type === undefined || key.type === Scalar.PLAIN);

/** The text of a key as it is written; numbers and booleans are texts here. */
function keyOf(key: ParsedNode | null, report: Report): string | undefined {
  if (!isScalar(key)) {
    if (key) report('yaml/key', 'A key must be a text; this one is an alias, a list or a mapping.', key);
    return undefined;
  }
  const text = String(key.source);
  if (text === '' && key.type === Scalar.PLAIN) {
    report('yaml/key', 'A key is missing before the colon.', key);
    return undefined;
  }
  if (text === '__proto__') {
    report('yaml/key', 'The key "__proto__" is a reserved word. Choose another.', key);
    return undefined;
  }
  return text;
}

type PlainMap = Record<string, unknown>;

function mergedMaps(pair: Pair<ParsedNode, ParsedNode | null>, read: YamlReader['read'], report: Report): PlainMap[] {
  const value = read(pair.value);
  const maps = Array.isArray(value) ? value : [value];
  if (maps.every((map) => typeof map === 'object' && map !== null && !Array.isArray(map))) return maps as PlainMap[];
  // An alias that could not be resolved has been reported already.
  if (value !== undefined) {
    report(
      'yaml/merge',
      'The value of << must be a mapping, an alias of one, or a list of such aliases.',
      pair.value ?? pair.key,
    );
  }
  return [];
}

function addMissing(value: PlainMap, merged: PlainMap): void {
  for (const key of Object.keys(merged)) if (!Object.hasOwn(value, key)) value[key] = merged[key];
}
