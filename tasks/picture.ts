/**
 * Draws what a command printed as an SVG, for the README: `node tasks/picture.ts OUT.svg TITLE < output-with-colours`.
 * Understands the colour and weight codes (SGR) that the command uses; everything else is text.
 */
import { writeFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';

const COLOURS: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
};
const LINE_HEIGHT = 19;
const CHARACTER_WIDTH = 8.05;
const MARGIN = 18;
const TITLE_BAR = 34;

interface Style {
  readonly colour: string;
  readonly bold: boolean;
  readonly dim: boolean;
}

const PLAIN: Style = { colour: '#e6edf3', bold: false, dim: false };

function applyCode(style: Style, code: number): Style {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, colour: PLAIN.colour };
  return { ...style, colour: COLOURS[code] ?? style.colour };
}

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function span(text: string, style: Style): string {
  if (text === '') return '';
  const weight = style.bold ? ' font-weight="bold"' : '';
  const opacity = style.dim ? ' opacity="0.65"' : '';
  return `<tspan fill="${style.colour}"${weight}${opacity}>${escapeXml(text)}</tspan>`;
}

/** One line of output as tspans; the style goes on into the next line, as it does on a terminal. */
function drawLine(line: string, start: Style): { readonly svg: string; readonly style: Style } {
  let style = start;
  let svg = '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
  for (const part of line.split(/(\u001b\[[\d;]*m)/)) {
    if (part.startsWith('\u001b')) {
      const codes = part.slice(2, -1).split(';').map(Number);
      style = codes.reduce(applyCode, style);
    } else {
      svg += span(part, style);
    }
  }
  return { svg, style };
}

function drawPicture(output: string, title: string): string {
  const lines = output.trimEnd().split('\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
  const longest = Math.max(...lines.map((line) => line.replace(/\u001b\[[\d;]*m/g, '').length), title.length);
  const width = Math.ceil(longest * CHARACTER_WIDTH + 2 * MARGIN);
  const height = lines.length * LINE_HEIGHT + TITLE_BAR + 2 * MARGIN;
  let style = PLAIN;
  const drawn = lines.map((line, index) => {
    const result = drawLine(line, style);
    style = result.style;
    return `<text x="${MARGIN}" y="${TITLE_BAR + MARGIN + (index + 0.75) * LINE_HEIGHT}" xml:space="preserve">${result.svg}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13.3">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    `<text x="${MARGIN}" y="22" fill="#8b949e">${escapeXml(title)}</text>`,
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

const [file, title = ''] = process.argv.slice(2);
if (!file) throw new Error('Usage: node tasks/picture.ts OUT.svg TITLE < output');
writeFileSync(file, drawPicture(await readAll(process.stdin), title));
