import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bindParameters,
  insertFromFile,
  quoteString,
  skipNonCode,
  statementKind,
  trailingFormat,
  unescapeTabSeparated,
} from './sql-text.ts';

const bind = (sql: string, values: Record<string, string>) => bindParameters(sql, new Map(Object.entries(values)));

describe('bindParameters', () => {
  it.each([
    ['SELECT {a:String}', { a: "it's" }, "SELECT CAST('it\\'s', 'String')"],
    ['SELECT { a : UInt8 }', { a: '7' }, 'SELECT 7'],
    ["SELECT {a:DateTime64(9, 'UTC')}", { a: '1' }, "SELECT CAST('1', 'DateTime64(9, \\'UTC\\')')"],
    ['SELECT {a:Nullable(String)}', { a: '\\N' }, 'SELECT NULL'],
    ['SELECT {a:Array(String)}', { a: "['x','\\'']" }, "SELECT CAST('[\\'x\\',\\'\\\\\\'\\']', 'Array(String)')"],
    ['SELECT * FROM {t:Identifier}', { t: 'a`b' }, 'SELECT * FROM `a\\`b`'],
    ["SELECT '{a:String}', {a:UInt8}", { a: '1' }, "SELECT '{a:String}', 1"],
    ['SELECT 1 -- {a:String}\n, {a:UInt8}', { a: '1' }, 'SELECT 1 -- {a:String}\n, 1'],
    ['SELECT /* {a:String} */ `{a:String}`, "{a:String}"', {}, 'SELECT /* {a:String} */ `{a:String}`, "{a:String}"'],
    ["SELECT {'k':1} AS m", {}, "SELECT {'k':1} AS m"],
    ['SELECT {a:UInt8}{b:UInt8}', { a: '1', b: '2' }, 'SELECT 12'],
    ['SELECT $t${a:String}$t$', {}, 'SELECT $t${a:String}$t$'],
  ] as [string, Record<string, string>, string][])('%s', (sql, values, expected) => {
    expect(bind(sql, values)).toBe(expected);
  });

  it.each([
    ['SELECT {a:String}', {}, 456],
    ['SELECT {a:UInt8}', { a: '1; DROP TABLE t' }, 457],
    ['SELECT {a:Int64}', { a: '' }, 457],
    ['SELECT {a:String', { a: 'x' }, 62],
  ] as [string, Record<string, string>, number][])('refuses %s with %o', (sql, values, code) => {
    expect(() => bind(sql, values)).toThrow(expect.objectContaining({ clickhouseCode: code }));
  });

  it('never lets a value end its literal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const literal = quoteString(value);
        expect(skipNonCode(literal, 0)).toBe(literal.length);
        const bound = bind('SELECT {a:String} AS b', { a: value.replaceAll('\\', '\\\\') });
        expect(bound.endsWith(' AS b')).toBe(true);
        const open = bound.indexOf("'");
        const close = skipNonCode(bound, open);
        expect(bound.slice(close)).toBe(", 'String') AS b");
      }),
      { numRuns: 500 },
    );
  });

  it('leaves text without placeholders as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/\{\s*[A-Za-z_]\w*\s*:/.test(text));
        expect(bind(text, {})).toBe(text);
      }),
    );
  });
});

describe('reading statements', () => {
  it.each([
    ['SELECT 1', 'read'],
    ['/* INSERT */ with a AS (SELECT 1) SELECT * FROM a', 'read'],
    ['-- x\nINSERT INTO t FORMAT CSV', 'write'],
    ['kill query where 1 ASYNC', 'control'],
    ['CREATE TABLE t (a UInt8) ENGINE = Memory', 'other'],
    ['', 'other'],
  ])('%s', (sql, kind) => {
    expect(statementKind(sql)).toBe(kind);
  });

  it('finds the format that ends a statement', () => {
    expect(trailingFormat("SELECT 'FORMAT CSV' FORMAT JSON")?.name).toBe('JSON');
    expect(trailingFormat('SELECT 1 FORMAT CSV SETTINGS max_threads = 1')?.name).toBe('CSV');
    expect(trailingFormat('SELECT 1')).toBeUndefined();
  });

  it('reads data from a file in place of the request', () => {
    expect(insertFromFile('INSERT INTO t (a) FORMAT CSV', "/d/it's", 'gzip')).toBe(
      "INSERT INTO t (a)  FROM INFILE '/d/it\\'s' COMPRESSION 'gzip' FORMAT CSV",
    );
    expect(
      insertFromFile(
        "INSERT INTO t SELECT 'input(1)', x FROM input('x String') WHERE x != '' FORMAT LineAsString",
        '/d',
        'none',
      ),
    ).toBe("INSERT INTO t SELECT 'input(1)', x FROM file('/d', 'LineAsString', 'x String', 'none') WHERE x != '' ");
    expect(() => insertFromFile('INSERT INTO t SELECT 1 FORMAT CSV', '/d', 'none')).toThrow(/input\(\)/);
    expect(() => insertFromFile('INSERT INTO t VALUES (1)', '/d', 'none')).toThrow(/FORMAT/);
  });

  it('undoes TabSeparated escapes', () => {
    expect(unescapeTabSeparated('a\\tb\\\\n\\n\\x41\\q')).toBe('a\tb\\n\nAq');
  });
});
