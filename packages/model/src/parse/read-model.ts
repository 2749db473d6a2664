/**
 * Walks a model file from top to bottom: alert managers one at a time, then what stands beside them. The items of
 * the `entities` list are parsed one by one where the layout allows it, so that memory holds one of them and not all.
 */
import { isMap, isSeq, type ParsedNode } from 'yaml';
import { type Code, problem } from '../check/codes.ts';
import { quote } from '../check/nearest.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { findLayout, type Layout } from './layout.ts';
import { createPlace, type Place } from './place.ts';
import { readPlainItem } from './plain-yaml.ts';
import { type SourceFile, spanOf } from './source-file.ts';
import { type ParsedYaml, parseYaml, parseYamlText } from './yaml-document.ts';
import { createYamlReader } from './yaml-value.ts';

/** Takes what a file holds, in the order of the file. */
export interface ModelVisitor {
  readonly entity: (value: unknown, place: Place) => void;
  /** The top level with an empty list for `entities`. */
  readonly root: (value: Record<string, unknown>, place: Place) => void;
  readonly problem: (diagnostic: Diagnostic) => void;
}

/**
 * Reads a file with a visitor. Gives the visitor that has seen all of it: when reading the items one by one turns out
 * to be impossible, the first visitor is dropped and another one made by `createVisitor` reads the file as a whole.
 */
export function readModel<Visitor extends ModelVisitor>(source: SourceFile, createVisitor: () => Visitor): Visitor {
  const layout = findLayout(source.text);
  if (layout) {
    const visitor = createVisitor();
    if (readItems(source, layout, visitor)) return visitor;
  }
  return readModelWhole(source, createVisitor);
}

/** The same without reading the items one by one: slower, with more memory, and with the same result. */
export function readModelWhole<Visitor extends ModelVisitor>(
  source: SourceFile,
  createVisitor: () => Visitor,
): Visitor {
  const visitor = createVisitor();
  readWhole(source, visitor);
  return visitor;
}

function readWhole(source: SourceFile, visitor: ModelVisitor): void {
  const { root, diagnostics } = parseYaml(source);
  for (const diagnostic of diagnostics) visitor.problem(diagnostic);
  if (diagnostics.length > 0) return;
  const start = root && !isEmpty(root) ? spanOf(source, root.range[0], root.range[0] + 1) : spanOf(source, 0, 1);
  const fail = (code: Code, detail: string) => visitor.problem(problem(code, detail, start));
  if (!root || isEmpty(root)) {
    fail('file/empty', `${source.file} holds no model. A model starts with the line "entities:".`);
  } else if (!isMap(root)) {
    const what = isSeq(root) ? 'a list' : 'a single value';
    fail('model/root', `The top level of the file is ${what}; it must be a mapping with the key "entities".`);
  } else readRoot(source, root, visitor);
}

const isEmpty = (node: ParsedNode) => 'value' in node && node.value === null;

/** False when the items cannot be read one by one after all. */
function readItems(source: SourceFile, layout: Layout, visitor: ModelVisitor): boolean {
  const { itemStarts, end } = layout;
  const start = itemStarts[0]!;
  if (end - start < 2) return false;
  // A comment of the same length in the place of the items keeps every offset.
  const text = `${source.text.slice(0, start)}#${' '.repeat(end - start - 2)}\n${source.text.slice(end)}`;
  const { root, diagnostics } = parseYamlText(source, text, 0);
  if (diagnostics.length > 0 || !isMap(root) || root.flow) return false;
  let isWhole = true;
  function* items(): Generator<ParsedNode> {
    for (let i = 0; i < itemStarts.length && isWhole; i++) {
      const [from, to] = [itemStarts[i]!, itemStarts[i + 1] ?? end];
      const node = readPlainItem(source.text, from, to) ?? itemOf(parseYaml(source, from, to));
      if (node) yield node;
      else isWhole = false;
    }
  }
  const foundList = readRoot(source, root, visitor, items);
  return foundList && isWhole;
}

function itemOf({ root, diagnostics }: ParsedYaml): ParsedNode | undefined {
  if (diagnostics.length > 0 || !isSeq(root) || root.flow || root.items.length !== 1) return undefined;
  return root.items[0] as ParsedNode;
}

/** Reads the top-level mapping; with `items`, they stand for the value of `entities`, which must be empty then. */
function readRoot(
  source: SourceFile,
  root: ParsedNode & { items: readonly unknown[] },
  visitor: ModelVisitor,
  items?: () => Iterable<ParsedNode>,
): boolean {
  const reader = createYamlReader(source, visitor.problem);
  const fields: Record<string, unknown> = {};
  let foundList = false;
  for (const pair of root.items as { key: ParsedNode; value: ParsedNode | null }[]) {
    const key = reader.readKey(pair.key);
    // An empty key stands after what comes before it, and the items are not there.
    if (items && key === undefined) return false;
    if (key === 'entities' && !foundList) {
      if (items && pair.value !== null && !isEmpty(pair.value)) return false;
      const list = items ? items() : listOf(pair.value);
      foundList = list !== undefined;
      for (const node of list ?? []) visitor.entity(reader.read(node), createPlace(source, node, reader.targetOf));
      fields[key] = list ? [] : reader.read(pair.value);
      continue;
    }
    const value = reader.read(pair.value);
    if (key === undefined) continue;
    if (Object.hasOwn(fields, key)) {
      const detail = `The key ${quote(key)} stands twice at the top level. Remove one, or join the two.`;
      visitor.problem(problem('yaml/duplicate-key', detail, spanOf(source, pair.key.range[0], pair.key.range[1])));
    } else fields[key] = value;
  }
  visitor.root(fields, createPlace(source, root, reader.targetOf));
  return foundList;
}

/** The items of a list in place; an alias of a list is read as any other value, and refused. */
const listOf = (node: ParsedNode | null) => (isSeq(node) ? (node.items as ParsedNode[]) : undefined);
