/** Parses YAML text into a document of nodes whose ranges are offsets in the whole file. */
import { Composer, type CST, type Document, Lexer, type ParsedNode, Parser, visit, type YAMLError } from 'yaml';
import { problem } from '../check/codes.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { type SourceFile, spanOf } from './source-file.ts';
import { yamlProblem } from './yaml-problem.ts';

export interface ParsedYaml {
  /** Null when the text holds no value. */
  readonly root: ParsedNode | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** So many syntax errors are enough: the rest follow from the first. */
const MOST_SYNTAX_ERRORS = 10;

/**
 * Parses `source.text` from `from` to `to`. Duplicate keys, aliases and merge keys are left to `yaml-value.ts`,
 * which needs time in proportion to the text.
 */
export function parseYaml(source: SourceFile, from = 0, to = source.text.length): ParsedYaml {
  return parseYamlText(source, source.text.slice(from, to), from);
}

/** As `parseYaml`, for a text that stands at the offset `from` of the file. */
export function parseYamlText(source: SourceFile, text: string, from: number): ParsedYaml {
  const composer = new Composer({ version: '1.2', uniqueKeys: false, keepSourceTokens: false, logLevel: 'silent' });
  try {
    const documents = composer.compose(tokensOf(text, from), true, from + text.length);
    const [first, second] = [documents.next(), documents.next()];
    const document = first.value as Document.Parsed;
    const diagnostics = syntaxProblems(source, document);
    if (!second.done) diagnostics.push(severalDocuments(source, second.value as Document.Parsed));
    return { root: document.contents, diagnostics };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { code, offset } = error;
    return { root: null, diagnostics: [problem(code, REFUSED_DETAILS[code], spanOf(source, offset, offset + 1))] };
  }
}

/** Nesting beyond this is refused before the recursive parts of the parser see it. A model has ten levels. */
const MOST_LEVELS = 200;

/** After so many stray tokens the rest of a text is not looked at: it is no YAML. */
const MOST_STRAY_TOKENS = 100;

/** Twice what a model of 10 MB has. Each takes a few hundred bytes of memory. */
const MOST_TOKENS = 4_000_000;

/** Ends the parsing of a text that no model looks like. */
class Refused extends Error {
  readonly offset: number;
  readonly code: 'yaml/nesting' | 'file/too-large';

  constructor(code: Refused['code'], offset: number) {
    super(code);
    this.code = code;
    this.offset = offset;
  }
}

/** The tokens of a text at the offset `from` of the file, within bounds of memory whatever the text. */
function* tokensOf(text: string, from: number): Generator<CST.Token, void> {
  const parser = new Parser();
  parser.offset = from;
  let strays = 0;
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === 'error' && ++strays > MOST_STRAY_TOKENS) return;
      yield token;
    }
    if (parser.stack.length > MOST_LEVELS) throw new Refused('yaml/nesting', parser.offset - lexeme.length);
    if (++count > MOST_TOKENS) throw new Refused('file/too-large', parser.offset - lexeme.length);
  }
  yield* parser.end();
}

function syntaxProblems(source: SourceFile, document: Document.Parsed): Diagnostic[] {
  const all: YAMLError[] = [...document.errors, ...document.warnings];
  // A tab as indentation makes the lines around it look wrong too.
  const tabs = all.filter((error) => error.code === 'TAB_AS_INDENT');
  const diagnostics: Diagnostic[] = [];
  const seenLines = new Set<number>();
  for (const [i, error] of (tabs.length > 0 ? tabs : all).entries()) {
    // What is left over after a value that ended too early is no mistake of its own.
    if (i > 0 && /in YAML stream/.test(error.message)) continue;
    const diagnostic = yamlProblem(
      source,
      /^Missing closing/.test(error.message) ? atOpeningQuote(error, document) : error,
    );
    const line = diagnostic.source?.line ?? 0;
    if (seenLines.has(line)) continue;
    seenLines.add(line);
    diagnostics.push(diagnostic);
    if (diagnostics.length === MOST_SYNTAX_ERRORS) break;
  }
  return diagnostics;
}

/** The parser misses a quote where the text ends; what helps is where it began. */
function atOpeningQuote(error: YAMLError, document: Document.Parsed): YAMLError {
  let start = error.pos[0];
  visit(document, {
    Scalar(_, scalar) {
      const [from, to] = scalar.range ?? [Number.POSITIVE_INFINITY, 0];
      const isQuoted = scalar.type === 'QUOTE_DOUBLE' || scalar.type === 'QUOTE_SINGLE';
      if (isQuoted && from < error.pos[0] && to >= error.pos[0]) start = from;
    },
  });
  return Object.assign(error, { pos: [start, start + 1] as [number, number] });
}

function severalDocuments(source: SourceFile, second: Document.Parsed): Diagnostic {
  const offset = second.contents?.range[0] ?? second.range[0];
  const detail =
    'The file has more than one YAML document; this is where the second one starts. Put all alert managers into one `entities` list, or each document into a file of its own and give the directory to -mf.';
  return problem('yaml/multiple-documents', detail, spanOf(source, offset, offset + 1));
}

const REFUSED_DETAILS: Readonly<Record<Refused['code'], string>> = {
  'yaml/nesting':
    'Lists and mappings stand inside each other too deep to be read. A model never needs more than ten levels.',
  'file/too-large':
    'The file has more values than a model of 10 MB can have. Split it into several files of one directory and give the directory to -mf.',
};
