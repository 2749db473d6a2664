import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hideTokens } from './hide-tokens.ts';

describe('hideTokens', () => {
  it.for([
    ['{"refresh_token": "abc123def", "org": "acme"}', '{"refresh_token": "*********", "org": "acme"}'],
    ['{"refresh_token": "${READ_TOKEN}"}', '{"refresh_token": "${READ_TOKEN}"}'],
    ['{"refresh_token": "abc', '{"refresh_token": "***'],
    ['{"refresh_token": abc-123}', '{"refresh_token": *******}'],
    ["{'refresh_token': 'abc'}", "{'refresh_token': '***'}"],
    ['{"refresh_token" "abc"}', '{"*************" "***"}'],
    ['{"refesh_token": "abc"}', '{"refesh_token": "***"}'],
    ['refresh_token: abc', 'refresh_token: ***'],
    ['{"a": ["abc", "def"]}', '{"a": ["***", "***"]}'],
    ['{"a": "x\\"y"}', '{"a": "****"}'],
    [
      '{"state_lock_file_path": "x.lock", "a": true, "b": null, "c": 12}',
      '{"state_lock_file_path": "x.lock", "a": true, "b": null, "c": 12}',
    ],
    ['{"api_base_url": "https://x.example.com/api/v4"}', '{"api_base_url": "https://x.example.com/api/v4"}'],
    [
      '{"api_base_url": "https://me:pw@x.example.com/api/v4"}',
      '{"api_base_url": "https://*****@x.example.com/api/v4"}',
    ],
    ['{"api_base_url": "https://me@pw@x/api?key=1#2"}', '{"api_base_url": "https://*****@x/api?*******"}'],
    ['{"api_base_url": "https://me:pw@x', '{"api_base_url": "https://*****@x'],
  ])('%s', ([text = '', hidden]) => {
    expect(hideTokens(text)).toBe(hidden);
  });

  it('keeps the length, so that columns stay right', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        expect(hideTokens(text)).toHaveLength(text.length);
      }),
    );
  });

  it('never shows a token, however the file around it is broken', () => {
    const token = 'TOKENabcdefghij';
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      ' ',
      '\n',
      '"refresh_token"',
      '"key"',
      'word',
      `"${token}"`,
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        // As a key it is shown: what stands before a colon is what the message has to name.
        fc.pre(!new RegExp(`${token}"?\\s*:`).test(text));
        expect(hideTokens(text)).not.toContain(token);
      }),
      { numRuns: 1000 },
    );
  });
});
