/** docs/cli.md says what the code does: its generated parts are compared; `UPDATE=1` writes them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMON_OPTIONS } from '../src/arguments/option.ts';
import { isGroup } from '../src/commands/command.ts';
import { COMMANDS } from '../src/commands/registry.ts';
import { commandReference, exitCodeReference } from './reference.ts';

const file = path.join(import.meta.dirname, '../../../docs/cli.md');
const sources = path.join(import.meta.dirname, '../src');

/** Puts `text` between the mark that begins with `name` and the next end mark. */
function withSection(document: string, name: string, text: string): string {
  const pattern = new RegExp(`(<!-- ${name}: made from the code -->\\n)[^]*?(<!-- end -->)`);
  expect(document).toMatch(pattern);
  return document.replace(pattern, (_, start: string, end: string) => `${start}\n${text}\n\n${end}`);
}

describe('docs/cli.md', () => {
  it('describes every command and exit code', async () => {
    const entries = COMMANDS.flatMap((node) => (isGroup(node) ? node.commands : [node]));
    const commands = await Promise.all(entries.map((entry) => entry.load()));
    const document = readFileSync(file, 'utf8');
    const current = withSection(
      withSection(document, 'exit codes', exitCodeReference()),
      'commands',
      commandReference(commands, COMMON_OPTIONS),
    );
    if (process.env['UPDATE'] === '1') {
      writeFileSync(file, current);
    } else {
      expect(document).toBe(current);
    }
  });

  it('describes every type of event', () => {
    const document = readFileSync(file, 'utf8');
    const texts = readdirSync(sources, { recursive: true, encoding: 'utf8' })
      .filter((name) => /^(views|commands)\/.*\.ts$/.test(name) && !name.endsWith('.test.ts'))
      .map((name) => readFileSync(path.join(sources, name), 'utf8'));
    const types = new Set(texts.flatMap((text) => [...text.matchAll(/\btype: '([a-z_]+)',/g)].map(([, type]) => type)));
    expect(types.size).toBeGreaterThan(12);
    expect([...types].filter((type) => !document.includes(`\`${type}\``))).toEqual([]);
  });

  it('lists each command in the tree under the name it has', async () => {
    for (const node of COMMANDS) {
      const entries = isGroup(node)
        ? node.commands.map((entry) => ({ entry, name: `${node.name} ${entry.name}` }))
        : [{ entry: node, name: node.name }];
      for (const { entry, name } of entries) {
        const command = await entry.load();
        expect(command.name).toBe(name);
        expect(command.summary).toBe(entry.summary);
        expect(command.examples.length).toBeGreaterThan(0);
        expect(command.exits).toContain('ok');
      }
    }
  });
});
