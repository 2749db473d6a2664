import { execFileSync } from 'node:child_process';
import type { DataSourceProperties } from '@obsiac/api';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHttpSource } from './http-source.ts';

const REQUEST = { start: 600, end: 1200, step: 60 };
const SET = { PASSWORD: 'pass"word $(id)', BEARER_TOKEN: 'tok', HEADER_X_SCOPE_ORGID: 'a|b', CA_CERT: 'ca file.pem' };

/** The words that curl gets when a POSIX shell runs the line. */
function wordsOf(line: string): string[] {
  const out = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${line}`], {
    env: { ...process.env, ...SET },
  });
  return out.toString('utf8').split('\0').slice(0, -1);
}

const lineOf = (url: string, properties: DataSourceProperties, query: string) =>
  createHttpSource({ url, properties }).curl({ ...REQUEST, query });

describe('the line for a shell', () => {
  it('reads as people would write it', () => {
    expect(
      lineOf('http://prom:9090/x', { flavour: 'victoriametrics', bearer_token: 'secret' }, "rate(a{b='c'}[5m])"),
    ).toBe(
      `curl -sS -H "Authorization: Bearer $BEARER_TOKEN" --data-urlencode 'query=rate(a{b='\\''c'\\''}[5m])' ` +
        '--data-urlencode start=600 --data-urlencode end=1200 --data-urlencode step=60 --data-urlencode timeout=15 ' +
        '--data-urlencode nocache=1 http://prom:9090/x/api/v1/query_range',
    );
  });

  it('keeps secrets in variables', () => {
    const headers = { 'X-Scope-OrgID': 'tenant-secret' };
    const line = lineOf('http://a', { username: "o'b$x", password: 'pass-secret', headers }, 'up');
    expect(line).not.toContain('secret');
    const words = wordsOf(line);
    expect(words[words.indexOf('-u') + 1]).toBe(`o'b$x:${SET.PASSWORD}`);
    expect(words[words.indexOf('-H') + 1]).toBe('X-Scope-OrgID: a|b');
  });

  it('secures the connection as the data source does', () => {
    const tls = { ca_cert: 'pem', client_cert: 'pem', client_key: 'key-secret', server_name: 'metrics.internal' };
    const line = lineOf('https://10.0.0.1:8443/p', { tls }, 'up');
    expect(line).not.toContain('secret');
    const words = wordsOf(line);
    expect(words[words.indexOf('--cacert') + 1]).toBe(SET.CA_CERT);
    expect(words).toContain('--key');
    expect(words[words.indexOf('--connect-to') + 1]).toBe('metrics.internal:8443:10.0.0.1:8443');
    expect(words).toContain('Host: 10.0.0.1:8443');
    expect(words.at(-1)).toBe('https://metrics.internal:8443/p/api/v1/query_range');
    expect(wordsOf(lineOf('https://a', { tls: { insecure_skip_verify: true } }, 'up'))).toContain('--insecure');
    expect(wordsOf(lineOf('http://a', { tls }, 'up'))).not.toContain('--cacert');
  });

  it('carries every query as it is', () => {
    // A shell's words cannot hold the character 0, and no query has it.
    const query = fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0') && text.isWellFormed());
    const nasty = fc.string({
      unit: fc.constantFrom("'", '"', '\\', '$', '`', '\n', '!', '*', ' ', '@', '=', '-', 'a'),
    });
    fc.assert(
      fc.property(fc.oneof(query, nasty), (text) => {
        expect(wordsOf(lineOf('http://a', {}, text))).toContain(`query=${text}`);
      }),
      { numRuns: 60 },
    );
  });
});
