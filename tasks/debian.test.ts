import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { archiveOfLines, archiveOfStanzas, debianArchive, debianBinaryOrReason } from './debian.ts';

afterEach(() => vi.unstubAllEnvs());

test('reads the archive from deb822 stanzas and passes over comments, security and disabled ones', () => {
  const text = `Types: deb
URIs: http://security.invalid/debian-security
Suites: stable-security
Components: main

# URIs: http://comment.invalid/
Enabled: no
Types: deb
URIs: http://off.invalid/debian
Suites: stable
Components: main

Types: deb deb-src
# a comment inside
URIs: http://mirror.invalid/debian http://second.invalid/debian
Suites: stable stable-updates
Components: main
Signed-By: /usr/share/keyrings/debian.gpg
`;
  expect(archiveOfStanzas(text)).toEqual({
    uri: 'http://mirror.invalid/debian',
    signedBy: '/usr/share/keyrings/debian.gpg',
  });
  expect(archiveOfStanzas('')).toBeUndefined();
});

test('reads the archive from one-line sources', () => {
  const text = `# deb http://comment.invalid/debian stable main
deb-src http://source.invalid/debian stable main
deb http://security.invalid/debian-security stable-security main
deb [arch=amd64 signed-by=/k.gpg] http://mirror.invalid/debian stable contrib main
`;
  expect(archiveOfLines(text)).toEqual({ uri: 'http://mirror.invalid/debian', signedBy: '/k.gpg' });
  expect(archiveOfLines('deb http://mirror.invalid/debian stable contrib')).toBeUndefined();
});

test('says so when the source lists name no archive', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'debian-'));
  try {
    await expect(debianArchive(empty)).rejects.toMatchObject({ name: 'DebianError', code: 'no_archive' });
  } finally {
    await rm(empty, { recursive: true });
  }
});

test('names no host of its own', async () => {
  const source = await readFile(new URL('./debian.ts', import.meta.url), 'utf8');
  expect(source).not.toMatch(/https?:\/\/|debian\.org/);
});

test('a missing program is a reason to skip, and an error in CI', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'debian-'));
  const request = { package: 'prometheus', suite: 'sid', binary: 'prometheus', cache };
  try {
    // Without any command on the path this is no Debian machine.
    vi.stubEnv('PATH', cache);
    vi.stubEnv('CI', '');
    const { binary, reason } = await debianBinaryOrReason(request);
    expect(binary).toBeUndefined();
    expect(reason).toMatch(/^(no_apt|no_archive): /);
    vi.stubEnv('CI', 'true');
    await expect(debianBinaryOrReason(request)).rejects.toMatchObject({ name: 'DebianError' });
  } finally {
    await rm(cache, { recursive: true });
  }
});
