/** Reading configs: what is accepted, environment variables, the wider form; the JSON reader against the platform's. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expandVariables } from './environment.ts';
import { readJson } from './json.ts';
import { parseConfig } from './parse-config.ts';
import { redactConfig } from './redact.ts';

const access = (token: string, more: object = {}) => ({ refresh_token: token, org: 'acme', ...more });
const config = (more: object = {}) => ({
  api_config: { read: access('r-token'), write: access('${WRITE}'), delete: access('x-${PART}-y') },
  ...more,
});
const parse = (value: unknown) =>
  parseConfig({ file: 'config.json', text: JSON.stringify(value, null, 2), env: { WRITE: 'w-token', PART: 'part' } });

describe('parseConfig', () => {
  test('puts in variables and defaults', () => {
    expect(parse(config())).toMatchObject({
      diagnostics: [],
      config: {
        refresh_tokens: { read: 'r-token', write: 'w-token', delete: 'x-part-y' },
        api_base_url: 'https://app.last9.io/api/v4',
        org: 'acme',
        state_lock_file_path: 'obsiac-state.lock',
      },
    });
  });

  test('knows the place of the state path, and takes a slash at the end of an address', () => {
    const url = { api_base_url: 'http://127.0.0.1:8080/api/v4/' };
    const value = { api_config: { read: access('a', url), write: access('b', url), delete: access('c', url) } };
    const parsed = parse({ ...value, state_lock_file_path: 'app.lock' });
    expect(parsed.diagnostics).toEqual([]);
    expect(parsed.config).toMatchObject({
      api_base_url: 'http://127.0.0.1:8080/api/v4',
      state_lock_file_path: 'app.lock',
      state_source: { line: 19, column: 27, endColumn: 37 },
    });
  });

  test.each([
    ['inside', { other: { x: [1] }, iac_config: { ...config(), state_lock_file_path: 'in.lock' } }, 'in.lock'],
    ['beside', { iac_config: config(), state_lock_file_path: 'out.lock' }, 'out.lock'],
    ['nowhere', { iac_config: config() }, 'obsiac-state.lock'],
  ])('the wider form, state path %s', (_, value, path) => {
    expect(parse(value)).toMatchObject({ diagnostics: [], config: { state_lock_file_path: path, org: 'acme' } });
  });

  test('a file that is no text has nothing to show', () => {
    const {
      config: none,
      diagnostics,
      shownText,
    } = parseConfig({ file: 'c.json', text: Uint8Array.of(0xff, 0), env: {} });
    expect([none, diagnostics.map(({ code }) => code), shownText]).toEqual([null, ['file/binary'], undefined]);
  });
});

test('variables: set, unset, inherited names, escapes', () => {
  const env = { A: 'a', EMPTY: '' };
  expect(expandVariables('x${A}y${A}${EMPTY}', env)).toEqual({ text: 'xaya', missing: [] });
  expect(expandVariables('${toString}${B}${B}', env)).toEqual({ text: '', missing: ['toString', 'B'] });
  expect(expandVariables('$${A} $A $', env)).toEqual({ text: '${A} $A $', missing: [] });
  expect(expandVariables('a${1}', env)).toEqual({ text: 'a${1}', missing: [], malformedAt: 1 });
});

describe('redactConfig', () => {
  const token = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0';

  test.each([
    `{"refresh_token": "${token}"}`,
    `{"refresh_token": ${token}}`,
    `{'refresh_token': '${token}'}`,
    `{"refresh_token": "${token}`,
    `refresh_token: ${token}`,
    `{"read": "${token}"}`,
    `["${token}"]`,
    `{"api_base_url": "https://user:${token}@host/api/v4"}`,
  ])('hides the token of %s and moves nothing', (text) => {
    const shown = redactConfig(text);
    expect(shown).not.toContain(token.slice(0, 8));
    expect(shown).not.toContain(token.slice(-8));
    expect(shown).toHaveLength(text.length);
  });

  test('shows what is no secret', () => {
    const text = '{"org": "acme", "api_base_url": "https://app.last9.io/api/v4", "refresh_token": "${TOKEN}"}';
    expect(redactConfig(text)).toBe(text);
  });
});

describe('readJson', () => {
  const read = (text: string) => {
    const result = readJson(text);
    return 'root' in result ? result.root.value : undefined;
  };

  test('reads what JSON.stringify writes', () => {
    const value = fc.jsonValue().filter((each) => !JSON.stringify(each).includes('__proto__'));
    fc.assert(
      fc.property(value, fc.constantFrom(0, 1, '\t', ' \r\n'), (each, space) => {
        const text = JSON.stringify(each, null, space);
        expect(read(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('takes and refuses what JSON.parse takes and refuses', () => {
    const chars = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ntrue01.eE+-u \n'), maxLength: 12 });
    fc.assert(
      fc.property(chars, (text) => {
        const ours = readJson(text);
        if ('problem' in ours && /stands twice/.test(ours.problem.detail)) return;
        let theirs: { value: unknown } | undefined;
        try {
          theirs = { value: JSON.parse(text) };
        } catch {
          theirs = undefined;
        }
        expect('root' in ours).toBe(theirs !== undefined);
        if ('root' in ours) expect(ours.root.value).toEqual(theirs?.value);
        else expect(ours.problem.from).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 5000 },
    );
  });

  test('refuses nesting without end', () => {
    expect(readJson('['.repeat(100_000))).toMatchObject({ problem: { detail: expect.stringContaining('too deep') } });
  });
});
