import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settingsSchema } from './definition.ts';
import { settingsPage } from './document.ts';
import { loadSettings, SettingsError } from './load.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'obsiac-settings-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const file = (text: string) => {
  const name = path.join(dir, 'settings.yaml');
  writeFileSync(name, text);
  return name;
};
const load = (sources: Partial<Parameters<typeof loadSettings>[0]>) =>
  loadSettings({ flags: {}, environment: {}, file: undefined, ...sources });
const problems = (sources: Partial<Parameters<typeof loadSettings>[0]>): readonly string[] => {
  try {
    load(sources);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  throw new Error('nothing was wrong');
};

describe('settings', () => {
  it('have defaults that keep the service on this machine', () => {
    const settings = load({});
    expect(settings).toEqual({ ...settingsSchema.parse({}), data_dir: path.resolve('.obsiac') });
    expect(settings).toMatchObject({ host: '127.0.0.1', port: 7780, org: 'default', body_limit: 1_048_576 });
  });

  it('come from flags before variables before the file before defaults', () => {
    const sources = {
      flags: { port: '1' },
      environment: { OBSIAC_PORT: '2', OBSIAC_HOST: '::1' },
      file: file('port: 3\nhost: 10.0.0.1\norg: from-file\n'),
    };
    expect(load(sources)).toMatchObject({ port: 1, host: '::1', org: 'from-file' });
  });

  it('are found in the data directory', () => {
    mkdirSync(path.join(dir, 'data'));
    writeFileSync(path.join(dir, 'data', 'service.yaml'), 'port: 4\ntrust_proxy: true\n');
    expect(load({ flags: { 'data-dir': path.join(dir, 'data') } })).toMatchObject({ port: 4, trust_proxy: true });
    expect(load({ environment: { OBSIAC_DATA_DIR: path.join(dir, 'data') } }).port).toBe(4);
  });

  it('take PostgreSQL from DATABASE_URL, and from the own variable first', () => {
    const DATABASE_URL = 'postgres://a/b';
    expect(load({ environment: { DATABASE_URL } }).database_url).toBe(DATABASE_URL);
    const OBSIAC_DATABASE_URL = 'postgresql://c/d';
    expect(load({ environment: { DATABASE_URL, OBSIAC_DATABASE_URL } }).database_url).toBe(OBSIAC_DATABASE_URL);
  });

  it('do not come from an empty variable or an empty file', () => {
    expect(load({ environment: { OBSIAC_PORT: '', DATABASE_URL: '' }, file: file('') })).toEqual(load({}));
    expect(load({ file: file('# nothing yet\n') })).toEqual(load({}));
  });

  it('are all named when they are wrong, with where they came from', () => {
    const settings = file('body_limit: 10\ntrust_proxy: perhaps\nprot: 5\n');
    const found = problems({ flags: { port: '70000' }, environment: { OBSIAC_ORG: 'Not A Slug' }, file: settings });
    expect(found).toHaveLength(5);
    expect(found).toEqual(
      expect.arrayContaining([
        `${settings}:3: there is no setting "prot"; did you mean "port"?`,
        expect.stringMatching(/^port \(from the flag --port\): /),
        expect.stringMatching(/^org \(from the variable OBSIAC_ORG\): must be a slug/),
        expect.stringContaining(`body_limit (from ${settings}:1): `),
        expect.stringContaining(`trust_proxy (from ${settings}:2): `),
      ]),
    );
  });

  it.each([
    [{ port: 'many' }, 'port'],
    [{ port: '-1' }, 'port'],
    [{ port: '80.5' }, 'port'],
    [{ 'public-url': 'obsiac.example' }, 'public_url'],
    [{ 'database-url': 'mysql://x' }, 'database_url'],
    [{ 'log-level': 'loud' }, 'log_level'],
    [{ 'rate-limit': '0' }, 'rate_limit'],
    [{ host: '' }, 'host'],
  ])('%j is refused', (flags, name) => {
    expect(problems({ flags })[0]).toContain(`${name} (from the flag --`);
  });

  it('never show a wrong secret', () => {
    const found = problems({ environment: { OBSIAC_DATABASE_URL: 'mysql://user:very-secret@host/db' } });
    expect(found.join()).not.toContain('very-secret');
  });

  it.each([
    ['port: [', /settings\.yaml:\d+: /],
    ['- port', /must be a map of settings/],
    ['port: 1\nport: 2', /settings\.yaml:2: .*unique/i],
  ])('a broken file is named with its line: %j', (text, message) => {
    expect(problems({ file: file(text) })[0]).toMatch(message);
  });

  it('a file that is not there is named', () => {
    expect(problems({ file: path.join(dir, 'nowhere.yaml') })[0]).toContain('nowhere.yaml: cannot be read (ENOENT)');
  });

  it('are all in the documentation, as they are', () => {
    const page = path.join(import.meta.dirname, '../../../../docs/service-settings.md');
    if (process.env['UPDATE']) writeFileSync(page, settingsPage());
    expect(readFileSync(page, 'utf8')).toBe(settingsPage());
  });
});
