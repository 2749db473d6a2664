/** Model files with a few edits, as people make them: most are broken, in many ways. */
import fc from 'fast-check';
import { writeModel } from '../src/index.ts';
import { modelArbitrary } from './arbitrary.ts';

/** Lines that change the structure of a YAML text wherever they are put. */
const ODD_LINES = [
  '',
  '# comment',
  '  # comment',
  '---',
  '...',
  '%YAML 1.2',
  'entities:',
  '- name: x',
  '  - name: x',
  '    - name: x',
  '  -',
  '    tier: gold',
  '        indicator: x',
  '\tname: x',
  '    labels: &a {b: c}',
  '    labels: *a',
  '      <<: *a',
  '    description: |',
  '    description: >-',
  '    description: "open',
  "    description: 'open",
  '    tags: [a,',
  '    ]',
  '    {a: b}',
  'x-free: &a {c: d}',
  'moved: []',
  '    tier: !tag x',
  '    ? key',
  '    : value',
  '  text',
];

type Edit = (lines: readonly string[]) => string[];

const editArbitrary: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ at: fc.nat(), line: fc.constantFrom(...ODD_LINES) }).map(
    ({ at, line }): Edit =>
      (lines) => {
        return lines.toSpliced(at % (lines.length + 1), 0, line);
      },
  ),
  fc.nat().map(
    (at): Edit =>
      (lines) =>
        lines.toSpliced(at % lines.length, 1),
  ),
  fc.record({ at: fc.nat(), by: fc.integer({ min: -3, max: 3 }) }).map(
    ({ at, by }): Edit =>
      (lines) => {
        const i = at % lines.length;
        const line = lines[i] ?? '';
        return lines.with(i, by < 0 ? line.slice(-by) : ' '.repeat(by) + line);
      },
  ),
  fc.record({ at: fc.nat(), from: fc.nat(), char: fc.constantFrom(...':-#"\'[]{}&*!|>%@ \t\r,?~') }).map(
    ({ at, from, char }): Edit =>
      (lines) => {
        const i = at % lines.length;
        const line = lines[i] ?? '';
        const column = from % (line.length + 1);
        return lines.with(i, line.slice(0, column) + char + line.slice(column));
      },
  ),
  fc.record({ at: fc.nat(), from: fc.nat() }).map(
    ({ at, from }): Edit =>
      (lines) => {
        return lines.toSpliced(at % lines.length, 0, lines[from % lines.length] ?? '');
      },
  ),
);

/** The text of a valid model after up to three edits, sometimes with the line ends of Windows or without the last one. */
export const editedModelArbitrary: fc.Arbitrary<string> = fc
  .record({
    model: modelArbitrary({ maxEntities: 3 }),
    edits: fc.array(editArbitrary, { maxLength: 3 }),
    lineEnd: fc.constantFrom('\n', '\n', '\r\n'),
    isOpen: fc.boolean(),
  })
  .map(({ model, edits, lineEnd, isOpen }) => {
    let lines = writeModel(model.entities).split('\n');
    for (const edit of edits) if (lines.length > 0) lines = edit(lines);
    const text = lines.join(lineEnd);
    return isOpen ? text.trimEnd() : text;
  });
