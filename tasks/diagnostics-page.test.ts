/** docs/diagnostics.md lists every code with its meaning; it is made from the code lists, `UPDATE=1` writes it. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CODES, PLAN_CODES } from '@obsiac/model';
import { expect, test } from 'vitest';

const page = path.join(path.dirname(import.meta.dirname), 'docs', 'diagnostics.md');

const HEAD = `# Diagnostics

What \`obsiac\` can find wrong with a model, a config file or a plan. Every finding carries one of these codes, with the place in the
file, what is wrong and what to do; \`--json\` has them as \`diagnostic.code\`. An error stops the command before anything is sent, a
warning does not. This page is made from the code.
`;

const AREAS: Readonly<Record<string, string>> = {
  file: 'Files',
  yaml: 'YAML',
  config: 'Config file',
};

function pageText(): string {
  const entries = Object.entries({ ...CODES, ...PLAN_CODES });
  const areas = [...new Set(entries.map(([code]) => code.split('/')[0] as string))];
  const sections = areas.map((area) => {
    const rows = entries
      .filter(([code]) => code.startsWith(`${area}/`))
      .map(
        ([code, entry]) =>
          `| \`${code}\` | ${entry.severity} | ${entry.summary} | ${entry.meaning.replaceAll('|', '\\|')} |`,
      );
    const title = AREAS[area] ?? `${area[0]?.toUpperCase()}${area.slice(1).replaceAll('-', ' ')}`;
    return `## ${title}\n\n| code | | headline | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return [HEAD, ...sections].join('\n');
}

test('docs/diagnostics.md is what the code lists say', () => {
  if (process.env['UPDATE'] === '1') writeFileSync(page, pageText());
  expect(readFileSync(page, 'utf8')).toBe(pageText());
});
