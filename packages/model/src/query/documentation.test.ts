/** Every example of docs/query-language.md, run over the records of the page. `UPDATE=1` writes the figures after the arrows. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FieldReader } from './match.ts';
import { parseQuery, QUERY_LIMITS } from './parse.ts';
import { printQuery } from './print.ts';
import { runQuery } from './run.ts';
import type { FieldValue } from './value.ts';

const file = path.join(import.meta.dirname, '../../../../docs/query-language.md');
const page = readFileSync(file, 'utf8');
const ARROW = ' → ';

type Fields = Readonly<Record<string, FieldValue>>;

const records = (/```json\n(.*?)```/s.exec(page)?.[1] ?? '')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Fields);

/** A field by its name, or inside objects by a name with dots. */
function reader(record: Fields): FieldReader {
  return (name) => {
    if (Object.hasOwn(record, name)) return record[name];
    const [first = '', ...rest] = name.split('.');
    const inner = Object.hasOwn(record, first) ? record[first] : undefined;
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    return isObject && rest.length > 0 ? reader(inner as Fields)(rest.join('.')) : undefined;
  };
}

/** What the page says of a query's result: rows as JSON when they are few, else how many there are. */
function outcome(text: string, written: string): string {
  const { query, problem } = parseQuery(text);
  if (problem !== undefined) throw new Error(`${text}: ${problem.message}`);
  const { rows, records: found } = runQuery(query, records, reader);
  return rows === null || /^\d+$/.test(written) ? String((rows ?? found).length) : JSON.stringify(rows);
}

const examples = [...page.matchAll(/```query\n(.*?)```/gs)]
  .flatMap(([, block = '']) => block.trimEnd().split('\n'))
  .map((line) => {
    const at = line.lastIndexOf(ARROW);
    return { line, text: line.slice(0, at), written: line.slice(at + ARROW.length) };
  });

describe('docs/query-language.md', () => {
  test('has records and enough examples', () => {
    expect(records.length).toBeGreaterThan(5);
    expect(examples.length).toBeGreaterThan(60);
  });

  if (process.env['UPDATE'] === '1') {
    test('is written', () => {
      const current = examples.reduce(
        (text, { line, text: query, written }) =>
          text.replace(line, () => `${query}${ARROW}${outcome(query, written)}`),
        page,
      );
      writeFileSync(file, current);
    });
  } else {
    test.each(examples)('$text', ({ text, written }) => {
      expect(outcome(text, written)).toBe(written);
      const { query } = parseQuery(text);
      expect(outcome(query === undefined ? '' : printQuery(query), written)).toBe(written);
    });
  }

  test('names the limits that there are', () => {
    const { length, terms, depth, limit } = QUERY_LIMITS;
    for (const figure of [length, terms, depth, limit]) expect(page).toContain(figure.toLocaleString('en-US'));
  });
});
