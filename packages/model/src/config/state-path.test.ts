/** Where the state lock file may lie. */
import { describe, expect, test } from 'vitest';
import { resolveStatePath } from './state-path.ts';

const resolve = (written: string, configFile: string, modelFiles: string[], workingDirectory = '/work/shop') =>
  resolveStatePath({ written, configFile, modelFiles, workingDirectory });

describe('resolveStatePath', () => {
  test.each([
    [
      'a bare name lies beside the config',
      'app.lock',
      '/work/shop/config.json',
      ['/work/shop/m.yaml'],
      '/',
      '/work/shop/app.lock',
    ],
    [
      'a relative path starts at the working directory',
      './app.lock',
      'config.json',
      ['m.yaml'],
      '/work/shop',
      '/work/shop/app.lock',
    ],
    ['up and down again', '../shop/app.lock', 'config.json', ['m.yaml'], '/work/shop', '/work/shop/app.lock'],
    ['an absolute path', '/work/shop/app.lock', 'config.json', ['m.yaml'], '/work/shop', '/work/shop/app.lock'],
    [
      'another directory, from outside',
      'shop/app.lock',
      'shop/config.json',
      ['shop/m.yaml'],
      '/work',
      '/work/shop/app.lock',
    ],
    [
      'a pipeline in the directory of the model',
      './app.lock',
      '/etc/obsiac/config.json',
      ['m.yaml'],
      '/work/shop',
      '/work/shop/app.lock',
    ],
    [
      'the same with a bare name',
      'app.lock',
      '/etc/obsiac/config.json',
      ['m.yaml'],
      '/work/shop',
      '/etc/obsiac/app.lock',
    ],
    ['no model', 'app.lock', 'config.json', [], '/work/shop', '/work/shop/app.lock'],
    ['the root', 'app.lock', '/config.json', ['/m.yaml'], '/', '/app.lock'],
    ['a hidden file', '.lock', 'config.json', ['m.yaml'], '/work/shop', '/work/shop/.lock'],
  ])('%s', (_, written, configFile, modelFiles, workingDirectory, path) => {
    expect(resolve(written, configFile, modelFiles, workingDirectory)).toEqual({ path });
  });

  test.each([
    ['/tmp/app.lock', 'The file must lie in the directory of the model and config, "/work/shop".'],
    ['../app.lock', '"/work/app.lock"'],
    ['state/app.lock', '"/work/shop/state/app.lock"'],
    ['./', 'which is a directory'],
    ['..', 'which is a directory'],
    ['.', 'which is a directory'],
    ['../shop', 'The file must lie'],
    ['config.json', 'which is the config file itself'],
    ['./m.yaml', 'which is the model file itself'],
  ])('%s is refused', (written, words) => {
    const resolved = resolve(written, 'config.json', ['m.yaml']);
    expect(resolved).toMatchObject({
      diagnostic: { code: 'config/state-path', detail: expect.stringContaining(words) },
    });
  });

  test('a relative path from elsewhere says what it means there', () => {
    const resolved = resolve('./app.lock', '/work/shop/config.json', ['/work/shop/m.yaml'], '/home/me');
    expect(resolved).toMatchObject({
      diagnostic: { detail: expect.stringContaining('which from the working directory means "/home/me/app.lock"') },
    });
  });
});
