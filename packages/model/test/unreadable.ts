/** Model files that are too large, too deep or no text at all, or have too much to complain of: made here, since they do not belong in a repository. */

export interface UnreadableModel {
  readonly name: string;
  readonly code: string;
  readonly text: string | Uint8Array;
}

const entity = (i: number) => `  - name: Entity ${i}\n    type: service\n    external_ref: e${i}\n`;

export const unreadableModels = (): readonly UnreadableModel[] => [
  { name: 'bytes over 10 MB', code: 'file/too-large', text: new Uint8Array(11 * 1024 * 1024).fill(0x20) },
  { name: 'a text over 10 MB', code: 'file/too-large', text: `# ${'é'.repeat(6 * 1024 * 1024)}` },
  {
    name: 'an image',
    code: 'file/binary',
    text: Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0]),
  },
  { name: 'a zero byte in a text', code: 'file/binary', text: 'entities:\n  - name: a\0b\n' },
  { name: 'UTF-16', code: 'file/encoding', text: Buffer.from('\ufeffentities: []\n', 'utf16le') },
  { name: 'Latin-1', code: 'file/encoding', text: Buffer.from('entities: [] # Größe\n', 'latin1') },
  { name: 'lists without end', code: 'yaml/nesting', text: `entities: ${'['.repeat(50_000)}` },
  { name: 'mappings without end', code: 'yaml/nesting', text: `entities:\n  - a: ${'{a: '.repeat(50_000)}` },
  { name: 'more values than memory', code: 'file/too-large', text: `x-list: [${'1,'.repeat(2_000_001)}]` },
  {
    name: 'more problems than anybody reads',
    code: 'model/too-many-problems',
    text: `entities:\n${Array.from({ length: 2000 }, (_, i) => `${entity(i)}    colour: red\n`).join('')}`,
  },
];

/** A valid model with more warnings than are kept: 2,000 alert managers with both forms of the data source. */
export const MODEL_OF_WARNINGS = `entities:\n${Array.from({ length: 2000 }, (_, i) => `${entity(i)}    data_source: a\n    data_source_id: b\n`).join('')}`;
