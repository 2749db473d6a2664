/** Every script of `scripts/`: the command line without a service, printed to the letter. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';
import { normaliseCommon, readScript, runScript, writeScript } from './script.ts';

const folder = path.join(import.meta.dirname, 'scripts');

describe('golden scripts', () => {
  for (const name of readdirSync(folder).sort()) {
    it(name, async () => {
      const file = path.join(folder, name);
      const text = readFileSync(file, 'utf8');
      const script = readScript(text);
      const directory = mkdtempSync('/tmp/obsiac-script-');
      try {
        const results = await runScript(script, {
          directory,
          env: {},
          run: (argv, env) => runCli(argv, { cwd: directory, env }),
          normalise: (output) => normaliseCommon(output, directory),
        });
        const written = writeScript(script, results);
        if (process.env['UPDATE'] === '1') {
          writeFileSync(file, written);
        } else {
          expect(written).toBe(text);
        }
      } finally {
        rmSync(directory, { recursive: true });
      }
    });
  }
});
