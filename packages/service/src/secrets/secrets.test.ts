import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { maskSecret, maskValues, unmask, unmaskValues } from './mask.ts';
import { createVault, loadSecretKey, SecretKeyError } from './vault.ts';

const key = (fill: number) => new Uint8Array(32).fill(fill);

describe('vault', () => {
  it('opens what it sealed, and seals the same text differently each time', () => {
    const vault = createVault(key(1));
    const [a, b] = [vault.seal('https://hooks.example/ünï'), vault.seal('https://hooks.example/ünï')];
    expect(a).not.toBe(b);
    expect(a).not.toContain('hooks');
    expect(vault.open(a)).toBe('https://hooks.example/ünï');
    expect(vault.open(vault.seal(''))).toBe('');
  });

  it('refuses another key, a changed byte and nonsense', () => {
    const sealed = createVault(key(1)).seal('secret');
    expect(() => createVault(key(2)).open(sealed)).toThrow(SecretKeyError);
    const bytes = Buffer.from(sealed.slice(3), 'base64');
    bytes[bytes.length - 1]! ^= 1;
    expect(() => createVault(key(1)).open(`v1:${bytes.toString('base64')}`)).toThrow(SecretKeyError);
    for (const nonsense of ['', 'v1:', 'v1:AAAA', 'secret', 'v2:AAAA']) {
      expect(() => createVault(key(1)).open(nonsense)).toThrow(SecretKeyError);
    }
  });

  it('derives a different key for each purpose', () => {
    const vault = createVault(key(1));
    expect(vault.deriveKey('a')).toEqual(createVault(key(1)).deriveKey('a'));
    expect(vault.deriveKey('a')).not.toEqual(vault.deriveKey('b'));
    expect(vault.fingerprint).not.toBe(createVault(key(2)).fingerprint);
  });
});

describe('secret key', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'obsiac-key-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('is made once, for its owner alone', () => {
    const made = loadSecretKey(dir, undefined);
    expect(made).toHaveLength(32);
    expect(loadSecretKey(dir, undefined)).toEqual(made);
    expect(statSync(path.join(dir, 'secret.key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(path.join(dir, 'secret.key'), 'utf8').trim()).toBe(Buffer.from(made).toString('base64'));
  });

  it('comes from the setting in base64 or hex', () => {
    expect(loadSecretKey(dir, Buffer.from(key(7)).toString('base64'))).toEqual(Buffer.from(key(7)));
    expect(loadSecretKey(dir, '07'.repeat(32))).toEqual(Buffer.from(key(7)));
    expect(() => loadSecretKey(dir, 'too short')).toThrow('OBSIAC_SECRET_KEY is not 32 bytes');
  });

  it('names a broken key file', () => {
    writeFileSync(path.join(dir, 'secret.key'), 'broken\n');
    expect(() => loadSecretKey(dir, undefined)).toThrow(path.join(dir, 'secret.key'));
  });
});

describe('mask', () => {
  it.each([
    ['https://hooks.slack.com/services/T000/B000/abcdqX4z', 'https://hooks.slack.com/********qX4z'],
    ['https://user:pass@example.com:8443/x?token=abcdefgh', 'https://example.com:8443/********efgh'],
    ['0123456789abcdef0123456789abcdef', '********cdef'],
    ['short', '********'],
    ['on-call@example.com', '********.com'],
    ['', ''],
  ])('%j is shown as %j', (secret, shown) => {
    expect(maskSecret(secret)).toBe(shown);
  });

  it('keeps the stored secret when its mask comes back, and takes anything else', () => {
    expect(unmask('********cdef', '0123456789abcdef')).toBe('0123456789abcdef');
    expect(unmask('********zzzz', '0123456789abcdef')).toBe('********zzzz');
    expect(unmask('', '')).toBe('');
    expect(unmaskValues({ a: '********', b: 'new' }, { a: 'old', c: 'gone' })).toEqual({ a: 'old', b: 'new' });
    expect(maskValues({ Authorization: 'Basic 0123456789abcdef' })).toEqual({ Authorization: '********cdef' });
  });
});
