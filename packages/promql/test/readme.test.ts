import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the example of the readme prints what it says', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, code, output] = /```ts\n([\s\S]*?)```\n\nprints\n\n```text\n([\s\S]*?)```/.exec(readme)!;
  const folder = await mkdtemp(join(tmpdir(), 'readme-'));
  try {
    const file = join(folder, 'example.mts');
    await writeFile(file, code!.replace('@obsiac/promql', new URL('../src/index.ts', import.meta.url).href));
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    expect(stdout).toBe(output);
  } finally {
    await rm(folder, { recursive: true });
  }
});
