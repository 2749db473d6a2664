/** Expected texts in `testdata/`; `UPDATE=1` writes them anew. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';

export function expectGolden(name: string, text: string): void {
  const file = path.join(import.meta.dirname, 'testdata', name);
  if (process.env['UPDATE'] === '1') {
    writeFileSync(file, text);
  }
  expect(text).toBe(readFileSync(file, 'utf8'));
}
