/** Colours and the width of the page: what a text may look like on one output. */
import picocolors from 'picocolors';

type Paint = (text: string) => string;

export interface Style {
  readonly add: Paint;
  readonly change: Paint;
  readonly remove: Paint;
  readonly note: Paint;
  readonly strong: Paint;
  readonly faint: Paint;
  /** Columns that a line may take. */
  readonly width: number;
}

const DEFAULT_WIDTH = 100;
const LEAST_WIDTH = 20;

export function createStyle(colours: boolean, width = DEFAULT_WIDTH): Style {
  const paint = picocolors.createColors(colours);
  return {
    add: paint.green,
    change: paint.yellow,
    remove: paint.red,
    note: paint.cyan,
    strong: paint.bold,
    faint: paint.dim,
    // Some terminals say that they have no columns at all.
    width: width === 0 ? DEFAULT_WIDTH : Math.max(LEAST_WIDTH, width),
  };
}

/** No colours, the usual width: for files and tests. */
export const PLAIN: Style = createStyle(false);

interface Environment {
  readonly [name: string]: string | undefined;
}

/**
 * Whether to colour an output. NO_COLOR (https://no-color.org) and `--no-color` win over FORCE_COLOR
 * (https://force-color.org), which wins over what the output is.
 */
export function wantsColours(output: { readonly isTTY?: boolean }, env: Environment, noColor: boolean): boolean {
  if (noColor || (env['NO_COLOR'] ?? '') !== '') {
    return false;
  }
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') {
    return forced !== '0' && forced !== 'false';
  }
  return output.isTTY === true && env['TERM'] !== 'dumb';
}

/**
 * Makes a text from a model, a service or a file harmless on a terminal: control characters, which could move the cursor
 * or change the title, are shown as escapes. Line feeds and tabs stay.
 */
export function harmless(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose.
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** `harmless` and on one line. */
export function oneLine(text: string): string {
  return harmless(text)
    .replace(/\s*\n\s*/g, ' ⏎ ')
    .replaceAll('\t', ' ');
}

/** Breaks `text` at spaces so that no line is longer than `width`, where words allow. */
export function wrap(text: string, width: number, indent = ''): string {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(' ')) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (longer.length > width - indent.length && line !== '') {
        lines.push(indent + line);
        line = word;
      } else {
        line = longer;
      }
    }
    lines.push(line === '' ? '' : indent + line);
  }
  return lines.join('\n');
}
