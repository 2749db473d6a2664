/** Completion scripts, run by the shells they are for. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync('/tmp/obsiac-completion-');
  writeFileSync(path.join(directory, 'model.yaml'), '');
});
afterAll(() => rmSync(directory, { recursive: true }));

async function scriptFor(shell: string): Promise<string> {
  return (await runCli(['completion', shell], { cwd: directory })).stdout;
}

/** What bash offers for the last of `words`. */
async function bashOffers(...words: string[]): Promise<readonly string[]> {
  const file = path.join(directory, 'obsiac.bash');
  writeFileSync(file, await scriptFor('bash'));
  const program = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _obsiac; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const output = execFileSync('bash', ['-c', program, 'bash', file, 'obsiac', ...words], {
    cwd: directory,
    encoding: 'utf8',
  });
  return output.split('\n').filter((line) => line !== '');
}

describe('bash', () => {
  it.for([
    [['pl'], ['plan']],
    [
      ['state', ''],
      ['list', 'show'],
    ],
    [['-c', 'config.json', 'state', 'l'], ['list']],
    [['schema', 'm'], ['model']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['-mf', 'mod'], ['model.yaml']],
    [['-mf', 'plan', 'ap'], ['apply']],
    [['plan', '--det'], ['--detailed-exitcode']],
    [['apply', '--lock-t'], ['--lock-timeout']],
    [['version', '--lock-t'], []],
    [['apply', 'mod'], ['model.yaml']],
    [['apply', '--lock-timeout', ''], []],
  ])('%j', async ([words = [], offers]) => {
    expect(await bashOffers(...words)).toEqual(offers);
  });

  it('offers every command first', async () => {
    const offers = await bashOffers('');
    expect(offers).toEqual(expect.arrayContaining(['plan', 'apply', 'state', 'help']));
  });
});

const hasShell = (shell: string) => {
  try {
    execFileSync(shell, ['-c', 'exit 0'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

describe.for(['zsh', 'fish'])('%s', (shell) => {
  it.runIf(hasShell(shell))('accepts the script', async () => {
    const file = path.join(directory, `obsiac.${shell}`);
    writeFileSync(file, await scriptFor(shell));
    execFileSync(shell, ['-n', file]);
  });

  it('names every command and the files of -mf', async () => {
    const script = await scriptFor(shell);
    for (const word of [
      'plan',
      'apply',
      'destroy',
      'import',
      'state',
      'list',
      'show',
      'force-unlock',
      'schema',
      'model-file',
    ]) {
      expect(script).toContain(word);
    }
  });
});
