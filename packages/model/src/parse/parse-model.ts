/** From model files to a model, or to everything that is wrong with them. */
import { checkAcross, type FileEntities } from '../check/across.ts';
import { type CheckedEntity, checkEntity, dropNulls, reportFields } from '../check/entity.ts';
import { checkMoved } from '../check/moved.ts';
import { createReport, type Report } from '../check/report.ts';
import { type Diagnostic, hasErrors } from '../diagnostic.ts';
import type { Entity, Model, Moved } from '../model.ts';
import { modelSchema } from '../schema/model-schema.ts';
import { checkFields } from '../schema/problems.ts';
import type { Place } from './place.ts';
import { type ModelVisitor, readModel } from './read-model.ts';
import { type InputFile, readText } from './read-text.ts';
import { createSourceFile } from './source-file.ts';

export interface ParsedModel {
  /** Null when there are errors. */
  readonly model: Model | null;
  /** All errors and warnings, in the order of the files and of the lines. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads files as one model: YAML with anchors and merge keys, checked against every rule of the model file. Collects
 * all problems; each has a code of `CODES`. The caller keeps the texts, which `renderDiagnostic` wants for the caret.
 */
export function parseModel(files: readonly InputFile[]): ParsedModel {
  return parseModelWith(readModel, files);
}

type ReadModel = typeof readModel;

/** `parseModel` with a way of reading a file, so that a test can compare the two. */
export function parseModelWith(reader: ReadModel, files: readonly InputFile[]): ParsedModel {
  const read = files.map((file) => readFile(reader, file));
  const across = createReport();
  checkAcross(read, across);
  checkMoved(read, across);
  const diagnostics = inOrder(files, [...read.flatMap(({ report }) => report.diagnostics), ...across.diagnostics]);
  if (hasErrors(diagnostics)) return { model: null, diagnostics };
  const entities = read.flatMap(({ entities }) => entities.map(({ entity }) => entity as Entity));
  return { model: { entities, moved: read.flatMap(({ moved }) => moved) }, diagnostics };
}

interface FileVisitor extends ModelVisitor {
  readonly report: Report;
  readonly entities: CheckedEntity[];
  readonly moved: Moved[];
  /** False when some of the file could not be read, so that what is missing may be there. */
  isComplete: boolean;
}

function readFile(reader: ReadModel, input: InputFile): FileEntities & { readonly report: Report } {
  const text = readText(input);
  if ('text' in text) return reader(createSourceFile(input.file, text.text), createVisitor);
  const report = createReport();
  report.take(text.problem);
  return { report, entities: [], moved: [], isComplete: false };
}

function createVisitor(): FileVisitor {
  const report = createReport();
  const visitor: FileVisitor = {
    report,
    entities: [],
    moved: [],
    isComplete: true,
    entity: (value, place) => {
      if (report.isFull()) visitor.isComplete = false;
      else visitor.entities.push(checkEntity(value, place, report));
    },
    root: (fields, place) => {
      visitor.moved.push(...checkRoot(fields, place, report));
    },
    problem: (diagnostic) => {
      visitor.isComplete = false;
      report.take(diagnostic);
    },
  };
  return visitor;
}

/** Checks what stands beside the alert managers. Keys that start with `x-` are for the user's own anchors. */
function checkRoot(fields: Record<string, unknown>, place: Place, report: Report): Moved[] {
  const known = Object.fromEntries(Object.entries(fields).filter(([key]) => !key.startsWith('x-')));
  dropNulls(known);
  if (Array.isArray(known['moved'])) for (const entry of known['moved']) dropNulls(entry);
  const { problems, draft } = checkFields(modelSchema, known, 'The file');
  reportFields(problems, place, report);
  return (draft?.moved ?? []).flatMap((entry, i) => {
    if (entry?.from === undefined || entry.to === undefined) return [];
    return [{ from: entry.from, to: entry.to, source: place.value(['moved', i, 'from']) }];
  });
}

function inOrder(files: readonly InputFile[], diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const order = new Map(files.map(({ file }, i) => [file, i]));
  const rank = ({ source }: Diagnostic) => (source ? (order.get(source.file) ?? files.length) : files.length);
  return diagnostics.toSorted((a, b) => {
    const byFile = rank(a) - rank(b);
    if (byFile !== 0 || !a.source || !b.source) return byFile;
    return a.source.line - b.source.line || a.source.column - b.source.column;
  });
}
