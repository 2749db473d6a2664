/** Where the parts of a value stand in the file: from the path of a problem to a span of text. */
import { isAlias, isMap, isScalar, isSeq, type ParsedNode } from 'yaml';
import type { Source } from '../diagnostic.ts';
import type { Path } from '../schema/path.ts';
import { scalarOffset } from './scalar-offset.ts';
import { type SourceFile, spanOf } from './source-file.ts';
import { isMergeKey, type YamlReader } from './yaml-value.ts';

/** Looks up spans below one node. A path that is not there gives the nearest thing above it that is. */
export interface Place {
  readonly has: (path: Path) => boolean;
  readonly value: (path: Path) => Source;
  readonly key: (path: Path) => Source;
  /** The name of the object at the path, or the start of the object when it has none. */
  readonly object: (path: Path) => Source;
  /** The text of a scalar as written, without quotes; undefined for anything else. */
  readonly written: (path: Path) => string | undefined;
  /** Part of the value of a scalar, by offsets in that value. */
  readonly within: (path: Path, from: number, to: number) => Source;
}

interface Found {
  readonly key?: ParsedNode;
  readonly value: ParsedNode | null;
}

export function createPlace(source: SourceFile, root: ParsedNode, targetOf: YamlReader['targetOf']): Place {
  const resolve = (node: ParsedNode | null) => (node && isAlias(node) ? (targetOf(node) ?? node) : node);

  const child = (owner: ParsedNode | null, key: string | number): Found | undefined => {
    const node = resolve(owner);
    if (isSeq(node))
      return typeof key === 'number' && key < node.items.length ? { value: node.items[key] as ParsedNode } : undefined;
    if (!isMap(node)) return undefined;
    const merged: ParsedNode[] = [];
    for (const pair of node.items as { key: ParsedNode; value: ParsedNode | null }[]) {
      if (isMergeKey(pair.key)) {
        const value = resolve(pair.value);
        merged.push(...(isSeq(value) ? (value.items as ParsedNode[]) : value ? [value] : []));
      } else if (isScalar(pair.key) && String(pair.key.source) === key) return pair;
    }
    return merged.map((map) => child(map, key)).find((found) => found !== undefined);
  };

  /** The node at a path, or the deepest one on the way to it. */
  const find = (path: Path): Found => {
    let found: Found = { value: root };
    for (const key of path) {
      const next = child(found.value, key);
      if (!next) return found;
      found = next;
    }
    return found;
  };

  const spanOfNode = (node: ParsedNode): Source => {
    const target = resolve(node) as ParsedNode;
    return spanOf(source, target.range[0], target.range[1]);
  };
  const startOf = (node: ParsedNode): Source => {
    const target = resolve(node) as ParsedNode;
    if (isMap(target)) return spanOfNode((target.items[0]?.key as ParsedNode | undefined) ?? target);
    return isSeq(target) && !target.flow ? spanOf(source, target.range[0], target.range[0] + 1) : spanOfNode(target);
  };

  const value = (path: Path) => {
    const found = find(path);
    const node = found.value;
    if (node && !isEmptyScalar(node)) return isScalar(resolve(node)) ? spanOfNode(node) : startOf(node);
    return spanOfNode(found.key ?? node ?? root);
  };

  return {
    has: (path) => path.length > 0 && child(find(path.slice(0, -1)).value, path.at(-1) as string) !== undefined,
    value,
    key: (path) => {
      const { key, value: node } = find(path);
      return spanOfNode(key ?? node ?? root);
    },
    object: (path) => {
      const { key, value: node } = find(path);
      if (!node || isEmptyScalar(node)) return spanOfNode(key ?? root);
      const name = child(node, 'name')?.value;
      return name && isScalar(resolve(name)) && !isEmptyScalar(name) ? spanOfNode(name) : startOf(node);
    },
    written: (path) => {
      const node = resolve(find(path).value);
      return isScalar(node) ? String(node.source) : undefined;
    },
    within: (path, from, to) => {
      const node = resolve(find(path).value);
      if (!isScalar(node)) return value(path);
      return spanOf(source, scalarOffset(source.text, node, from), scalarOffset(source.text, node, to, true));
    },
  };
}

const isEmptyScalar = (node: ParsedNode) => isScalar(node) && node.source === '' && node.range[0] === node.range[1];
