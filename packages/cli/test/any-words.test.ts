/** Any command line at all: it ends with a code of the table that is no fault of ours, and its events tell the same. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../src/exit-code.ts';
import { runCli } from './run-cli.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync('/tmp/obsiac-any-words-');
  writeFileSync(path.join(directory, 'model.yaml'), 'entities: []\n');
  writeFileSync(path.join(directory, 'config.json'), '{"api_config": {}}\n');
});
afterAll(() => rmSync(directory, { recursive: true }));

const COMMAND_WORDS = [
  'validate',
  'plan',
  'apply',
  'destroy',
  'import',
  'state',
  'list',
  'show',
  'force-unlock',
  'schema',
  'logpush',
  'datasets',
  'fields',
  'create',
  'logs',
  'query',
];
const MORE_WORDS = [
  'model',
  'config',
  'completion',
  'bash',
  'help',
  'version',
  'exit-codes',
  'x',
  '',
  '-',
  '--',
  '=',
  '--=',
  '-=x',
];
const FLAGS = [
  '-mf',
  '-mf=model.yaml',
  '-c',
  '-c=config.json',
  '-y',
  '--out',
  '--markdown',
  '--lock-timeout',
  '--concurrency=0',
];
const MORE_FLAGS = [
  '--concurrency',
  '--help',
  '--version',
  '--no-color',
  '--compact-warnings',
  '--entity',
  '-o=-',
  '--zone=z',
  '--intake',
  '--from',
  '--nope',
  '---x',
];
const VALUES = ['model.yaml', 'config.json', 'missing', '.', '*.yaml', '[', '5m', '16', '\u0000', 'ä ö', '../..'];
const word = fc.oneof(
  fc.constantFrom(...COMMAND_WORDS, ...MORE_WORDS, ...FLAGS, ...MORE_FLAGS, ...VALUES),
  fc.string({ unit: 'binary', maxLength: 8 }),
);

describe('any words', () => {
  it('end with a known code and one terminal event', async () => {
    const codes: readonly number[] = Object.values(EXIT);
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 8 }), async (words) => {
        const { code, stdout, stderr } = await runCli(['--json', ...words], { cwd: directory });
        expect(codes).toContain(code);
        expect(code).not.toBe(EXIT.internal);
        // `--json` goes missing when it is taken back.
        if (words.some((one) => one.startsWith('--json') || one.startsWith('-json'))) return;
        expect(stderr).toBe('');
        const events = stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as { type: string; exit_code?: number });
        expect(events.filter(({ type }) => type === 'result')).toEqual([expect.objectContaining({ exit_code: code })]);
        expect(events.at(-1)?.type).toBe('result');
      }),
      { numRuns: 600 },
    );
  });
});
