/** Says in our words what the YAML parser found wrong. */
import type { YAMLError } from 'yaml';
import { type Code, problem } from '../check/codes.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { type SourceFile, spanOf } from './source-file.ts';

interface Wording {
  readonly code: Code;
  readonly detail: string;
}

const QUOTE_ADVICE = 'If it is part of a text, put the whole text in quotes.';

/** Wordings by error code of the parser. `MISSING_CHAR` and `UNEXPECTED_TOKEN` stand for many things: see `wordingOf`. */
const WORDINGS: Partial<Record<YAMLError['code'], Wording>> = {
  BAD_INDENT: {
    code: 'yaml/indentation',
    detail:
      'This line stands at a column where nothing can start. Give the items of a list and the keys of a mapping the same indentation.',
  },
  TAB_AS_INDENT: {
    code: 'yaml/tab',
    detail: 'A tab is used as indentation. YAML takes spaces only: replace the tab by spaces.',
  },
  MULTILINE_IMPLICIT_KEY: {
    code: 'yaml/syntax',
    detail: 'This line and the next were read as one key. Is the colon missing here, or the space after it?',
  },
  BAD_SCALAR_START: { code: 'yaml/syntax', detail: 'A text cannot start with this character. Put the text in quotes.' },
  BAD_DQ_ESCAPE: {
    code: 'yaml/quotes',
    detail:
      'This escape does not exist in a text in double quotes. Write \\\\ for a backslash, or use single quotes, in which nothing is escaped.',
  },
  TAG_RESOLVE_FAILED: {
    code: 'yaml/tag',
    detail:
      'This YAML tag means nothing in a model. Remove it; if the exclamation mark belongs to a text, put the text in quotes.',
  },
  BAD_COLLECTION_TYPE: { code: 'yaml/tag', detail: 'This YAML tag does not fit the value after it. Remove it.' },
  MULTIPLE_TAGS: { code: 'yaml/tag', detail: 'A value has two YAML tags. Remove them.' },
  MULTIPLE_ANCHORS: { code: 'yaml/alias', detail: 'A value has two anchors; it can have one.' },
  BAD_ALIAS: {
    code: 'yaml/alias',
    detail: `An anchor or alias needs a name, without a colon at its end. ${QUOTE_ADVICE}`,
  },
  ALIAS_PROPS: { code: 'yaml/alias', detail: 'An alias cannot have an anchor or a tag.' },
  BAD_PROP_ORDER: {
    code: 'yaml/syntax',
    detail: 'An anchor or tag must stand after the "-", "?" or ":" and before the value.',
  },
  BLOCK_IN_FLOW: {
    code: 'yaml/syntax',
    detail: 'A list or mapping in block form stands inside brackets or braces. Use one form throughout.',
  },
  KEY_OVER_1024_CHARS: {
    code: 'yaml/syntax',
    detail: 'This key is longer than 1024 characters. Is a line break missing?',
  },
  BAD_DIRECTIVE: {
    code: 'yaml/syntax',
    detail: `A line that starts with % is a YAML directive, and this one is not known. ${QUOTE_ADVICE}`,
  },
};

/** The diagnostic for an error or warning of the parser; `pos` of the error is an offset in the file. */
export function yamlProblem(source: SourceFile, error: YAMLError): Diagnostic {
  const [from, to] = error.pos;
  const start = contentFrom(source.text, Math.min(from, source.text.length));
  const lineEnd = source.text.indexOf('\n', start);
  const end = Math.max(lineEnd === -1 ? to : Math.min(to, lineEnd), start + 1);
  const { code, detail } = wordingOf(error, source.text, start);
  return problem(code, detail, spanOf(source, start, end));
}

/** An error at the indentation of a line is about what stands after it, tabs apart. */
function contentFrom(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at++;
  return text[at] === undefined || text[at] === '\n' ? from : at;
}

function wordingOf(error: YAMLError, text: string, start: number): Wording {
  const byMessage = MESSAGE_WORDINGS.find(([pattern]) => pattern.test(error.message));
  if (byMessage) return byMessage[1];
  if (error.code === 'BLOCK_AS_IMPLICIT_KEY') return colonWording(text, start);
  const detail = `${error.message.replace(/\.?$/, '.')} ${QUOTE_ADVICE}`;
  return WORDINGS[error.code] ?? { code: 'yaml/syntax', detail };
}

/** A mapping where a value was begun: either the value holds a colon, or a line is indented wrongly. */
function colonWording(text: string, start: number): Wording {
  const line = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  const rest = /^[^\n]*/.exec(text.slice(start, start + 1000))?.[0] ?? '';
  if (line.includes(': ') && /:(\s|$)/.test(rest)) {
    return {
      code: 'yaml/syntax',
      detail:
        'A second ": " on this line makes the value look like a mapping. If it is a text, put it in quotes, or start it on the next line after a "|".',
    };
  }
  const where = line.includes(': ') ? 'The line after this one' : 'This line';
  return {
    code: 'yaml/indentation',
    detail: `${where} does not fit the indentation of the lines around it. Give the items of a list and the keys of a mapping the same indentation.`,
  };
}

const MESSAGE_WORDINGS: readonly (readonly [pattern: RegExp, wording: Wording])[] = [
  [
    /Missing closing ['"]quote/,
    {
      code: 'yaml/quotes',
      detail: 'A text in quotes is not closed before the end of its block. Add the closing quote.',
    },
  ],
  [
    /Implicit (map )?keys need to be followed by map values|Implicit map keys/,
    {
      code: 'yaml/syntax',
      detail: 'This line is a text where a key and a value are expected. Is the colon missing, or the space after it?',
    },
  ],
  [/Missing , /, { code: 'yaml/syntax', detail: 'A comma is missing between the items in brackets or braces.' }],
  [/Sequence item without - indicator/, { code: 'yaml/syntax', detail: 'An item of a list must start with "- ".' }],
  [
    /Comments must be separated/,
    { code: 'yaml/syntax', detail: `A comment needs a space before its #. ${QUOTE_ADVICE}` },
  ],
  [
    /^Not a YAML token|Block scalar header/,
    {
      code: 'yaml/syntax',
      detail:
        'This text cannot stand here. After "|" or ">" only an indentation number, "-" or "+" may follow; the text starts on the next line.',
    },
  ],
  [
    /^Unexpected flow-\S+ (?:at node end|in)/,
    {
      code: 'yaml/syntax',
      detail:
        'A bracket, brace or comma stands here that belongs to no list or mapping. Inside [ ] and { }, a text that holds one must be in quotes.',
    },
  ],
  [
    /^Unexpected .*(?:at node end|in YAML stream|in (?:block|flow|collection))/,
    {
      code: 'yaml/syntax',
      detail: `This cannot stand here: the value before it is complete already. Check the indentation. ${QUOTE_ADVICE}`,
    },
  ],
  [
    /flow (collection|map|sequence|seq)|^Expected flow|must end with a|end with [\]}]/i,
    {
      code: 'yaml/syntax',
      detail: 'A list in [ ] or a mapping in { } is not closed or has a character that cannot stand there.',
    },
  ],
];
