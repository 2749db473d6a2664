import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { LogRecord } from '@obsiac/api';
import {
  type FieldReader,
  type FieldValue,
  type Filter,
  type Matcher,
  parseQuery,
  printFilter,
  printQuery,
  type Query,
  runQuery,
} from '@obsiac/model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COLUMNS } from '../columns.ts';
import { createLogStore, type LogStore, type RecordRow } from '../index.ts';
import { OTEL_FIELDS } from './otel-fields.ts';

const root = mkdtempSync(join(tmpdir(), 'obsiac-search-'));
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const START = 1_750_000_000_000_000_000n;

/** Repeatable randomness. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
const next = random(20261121);
const upTo = (count: number) => Math.floor(next() * count);
const pick = <Item>(items: readonly Item[]): Item => items[upTo(items.length)] as Item;
const maybe = <Item>(share: number, make: () => Item): Item | undefined => (next() < share ? make() : undefined);

const WORDS = [
  'error',
  'Error',
  'error_42',
  'cart',
  'CART',
  'münchen',
  'MÜNCHEN',
  '503',
  '5',
  '5.0',
  '1e2',
  '100',
  '-3',
  'a.b',
  'foo-bar',
  'x%y',
  'x_y',
  'xzy',
  "it's",
  'back\\slash',
  'tab\there',
  'line\nend',
  '漢字',
  '😀',
  'true',
  'false',
  '10.0.0.1',
  'inf',
  'nan',
  '0x1F',
  '.5',
  '+7',
  '(',
  '[a]',
  '"q"',
  '{p:String}',
  '$1',
  '*',
];
const value = () => Array.from({ length: 1 + upTo(3) }, () => pick(WORDS)).join(pick([' ', '_', '', '/', '-']));

function makeRow(index: number): RecordRow {
  const row: Record<string, unknown> = {
    dataset: pick(['http_requests', 'otlp', 'gateway_dns']),
    timestamp: String(START + BigInt(index) * 1_000_000_007n),
    severity_number: pick([0, 9, 13, 17]),
    severity_text: pick(['', 'INFO', 'WARN', 'ERROR']),
    service: pick(['', 'checkout', 'Checkout', 'pay']),
    span_id: index.toString(16).padStart(16, '0'),
    body: maybe(0.9, () => Array.from({ length: upTo(6) }, () => pick(WORDS)).join(pick([' ', '/', '_', ', ']))) ?? '',
    attributes: {},
  };
  const set = (name: string, made: unknown) => {
    if (made !== undefined) row[name] = made;
  };
  set(
    'ClientCountry',
    maybe(0.7, () => pick(['de', 'us', 'DE', 'fr'])),
  );
  set(
    'ClientRequestHost',
    maybe(0.5, () => pick(['a.example', 'B.example', '5'])),
  );
  set(
    'ClientRequestScheme',
    maybe(0.5, () => 'https'),
  );
  set(
    'ClientRequestMethod',
    maybe(0.6, () => pick(['GET', 'POST', 'BREW', 'get'])),
  );
  set(
    'ClientRequestURI',
    maybe(0.6, () => pick(['/cart?x=1', '/', '/a?b?c', '/plain', value()])),
  );
  set(
    'ClientRequestPath',
    maybe(0.3, () => pick(['/cart', '/plain'])),
  );
  set(
    'ClientRequestProtocol',
    maybe(0.5, () => pick(['HTTP/1.1', 'HTTP/2', 'odd'])),
  );
  set(
    'ClientSSLProtocol',
    maybe(0.5, () => pick(['TLSv1.3', 'none'])),
  );
  set(
    'ClientIP',
    maybe(0.5, () => pick(['10.0.0.1', '2001:db8::1'])),
  );
  set(
    'RayID',
    maybe(0.7, () => pick(['8f3a0000000000a1', '8F3A0000000000A1', '1234567890123456', value()])),
  );
  set('ClientRequestUserAgent', maybe(0.5, value));
  set(
    'EdgeResponseStatus',
    maybe(0.7, () => String(pick([200, 404, 500, 503, 5]))),
  );
  set(
    'OriginResponseTime',
    maybe(0.3, () => pick(['9007199254740993', '9007199254740992', '-1', '0'])),
  );
  set(
    'EdgeResponseCompressionRatio',
    maybe(0.5, () => pick([0.5, 1, 2.25, 100])),
  );
  set(
    'CacheTieredFill',
    maybe(0.5, () => next() < 0.5),
  );
  set(
    'BotTags',
    maybe(0.5, () => Array.from({ length: 1 + upTo(3) }, value)),
  );
  set(
    'EventType',
    maybe(0.2, () => pick(['fetch', 'queue', 'rpc'])),
  );
  const attributes = row['attributes'] as Record<string, unknown>;
  if (next() < 0.6) attributes['user.id'] = pick(['42', '7', 'u_1', value()]);
  if (next() < 0.4) attributes['labels'] = Array.from({ length: 1 + upTo(3) }, () => pick(['a', 'b', '5', value()]));
  if (next() < 0.4) attributes['deep.path.x'] = value();
  if (next() < 0.3) attributes['http.response.status_code'] = pick(['200', '503']);
  if (next() < 0.3) attributes['odd name`s'] = pick(WORDS);
  row['raw'] = lineOf(row, index);
  return row as unknown as RecordRow;
}

/** The line that such a row would have been made of. */
function lineOf({ attributes, ...row }: Record<string, unknown>, index: number): string {
  const fields = Object.entries(row).filter(([name]) => COLUMNS.has(name));
  const typed = fields.map(
    ([name, cell]) => `${JSON.stringify(name)}:${COLUMNS.get(name) === 'integer' ? cell : JSON.stringify(cell)}`,
  );
  if (row['dataset'] === 'otlp')
    return JSON.stringify({ index, attributes: { ...Object.fromEntries(fields), ...(attributes as object) } });
  const others = Object.entries(attributes as object).map(
    ([name, cell]) => `${JSON.stringify(name)}:${JSON.stringify(cell)}`,
  );
  return `{${[`"index":${index}`, ...typed, ...others].join(',')}}`;
}

const ROWS = Array.from({ length: 1500 }, (_, index) => makeRow(index));

/** A record's fields, told from the row as the query language defines them: independent of the SQL. */
function readerOf(row: RecordRow): FieldReader {
  const own = (name: string): FieldValue | undefined => {
    const found = row[name];
    if (found === undefined || found === null || found === '') return undefined;
    const kind = COLUMNS.get(name);
    return kind === 'integer' || kind === 'time' ? BigInt(found as string) : (found as FieldValue);
  };
  const attributes = row.attributes as Record<string, FieldValue>;
  const attribute = (name: string) =>
    Object.hasOwn(attributes, name) && !name.includes('`') ? attributes[name] : undefined;
  return (name) => {
    if (name === 'service.name') return own('service');
    if (name === 'timestamp') return BigInt(row.timestamp);
    if (['body', 'dataset', 'service', 'severity_text', 'span_id', 'raw'].includes(name)) return own(name);
    if (name === 'severity_number') return row.severity_number;
    if (COLUMNS.has(name)) return own(name);
    const otel = OTEL_FIELDS.get(name);
    if (otel === undefined) return attribute(name);
    const made = otel.value((column) => {
      const cell = own(column);
      return typeof cell === 'bigint' ? Number(cell) : (cell as string | number | undefined);
    });
    const values = [made, attribute(name)].filter((item) => item !== undefined && item !== '') as FieldValue[];
    return values.length === 0 ? undefined : values.length === 1 ? values[0] : values;
  };
}

const FIELDS = [
  'ClientCountry',
  'ClientRequestHost',
  'RayID',
  'ClientRequestUserAgent',
  'EdgeResponseStatus',
  'OriginResponseTime',
  'EdgeResponseCompressionRatio',
  'CacheTieredFill',
  'BotTags',
  'user.id',
  'labels',
  'deep.path.x',
  'nothing.here',
  'severity_number',
  'severity_text',
  'service',
  'dataset',
  'odd name`s',
  ...OTEL_FIELDS.keys(),
];

function makeMatcher(): Matcher {
  const text = pick([...WORDS, value(), '200', '404', 'de', 'GET', 'http', '/cart', 'a', 'checkout', 'b']);
  switch (upTo(9)) {
    case 0:
    case 1:
      return { kind: 'word', text };
    case 2:
      return { kind: 'phrase', text };
    case 3:
    case 4: {
      const parts = Array.from({ length: 2 + upTo(2) }, () =>
        next() < 0.4 ? '' : pick([...WORDS, 'e', 'a', '/', '0']),
      );
      return { kind: 'glob', parts: parts.every((part) => part === '') ? ['', 'a', ''] : parts };
    }
    case 5:
      return { kind: 'compare', operator: pick(['>', '>=', '<', '<=']), text };
    case 6:
      return {
        kind: 'range',
        low: maybe(0.8, () => pick(['1', 'a', '200', '-5', 'E'])) ?? null,
        high: maybe(0.8, () => pick(['500', 'f', '10', 'z'])) ?? null,
      };
    case 7:
      return {
        kind: 'regex',
        pattern: pick([
          '^e',
          'r+or',
          '(?i)CART',
          '[0-9]{3}',
          '4.',
          'n$',
          '^$',
          'a|b',
          '\\bcart\\b',
          '漢',
          '\\\\s',
          'e.d',
          '(?s)e.d',
          '^.*$',
        ]),
      };
    default:
      return { kind: 'exists' };
  }
}

function makeFilter(depth: number): Filter {
  const kind = depth <= 0 ? 0 : upTo(5);
  if (kind === 1 || kind === 2) {
    const items = Array.from({ length: 2 + upTo(2) }, () => makeFilter(depth - 1));
    return { kind: kind === 1 ? 'and' : 'or', items };
  }
  if (kind === 3) return { kind: 'not', item: makeFilter(depth - 1) };
  const field = next() < 0.35 ? null : pick(FIELDS);
  const matcher = makeMatcher();
  const needsField = matcher.kind === 'compare' || matcher.kind === 'range' || matcher.kind === 'exists';
  return { kind: 'match', field: field === null && needsField ? 'body' : field, matcher, span: { from: 0, to: 0 } };
}

function parsed(text: string): Query {
  const { query, problem } = parseQuery(text);
  if (query === undefined) throw new Error(`${text}: ${problem.message}`);
  return query;
}

const EVERYTHING = { org: 'main', from: START, to: START + 10n ** 13n };
const newestFirst = [...ROWS].reverse();

describe('searches', () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await createLogStore({
      dataDirectory: root,
      engine: { kind: 'embedded', memoryLimit: 1_500_000_000 },
      log: quiet,
      minFreeBytes: 0,
      queryLimits: { timeout: 20_000, memory: 500_000_000 },
    });
    store.start();
    const insert = async (rows: readonly RecordRow[], org: string) => {
      const plain = Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));
      await store.append({
        org,
        dataset: 'otlp',
        receivedAt: '1750000000000000000',
        hash: createHash('sha256').update(plain).update(org).digest('hex'),
        contentEncoding: 'gzip',
        form: 'records',
        records: rows.length,
        plainBytes: plain.length,
        body: [gzipSync(plain)],
      });
    };
    await insert(ROWS.slice(0, 700), 'main');
    await insert(ROWS.slice(700), 'main');
    await insert([{ timestamp: String(START + 5n), body: 'another org', raw: 'x' }], 'other');
    await store.whenReady();
    await store.loaded();
  });
  afterAll(async () => {
    await store.stop();
    rmSync(root, { recursive: true, force: true });
  });

  const spans = async (filter: Filter) => {
    const query: Query = { filter, pipes: [{ kind: 'fields', fields: ['span_id'] }] };
    const answer = await store.search.query({ ...EVERYTHING, query, limit: 10_000, order: 'desc' });
    if (answer.kind !== 'rows') throw new Error('not rows');
    return answer.rows.flat();
  };

  it('filters as the language defines, for filters of every kind', async () => {
    for (let round = 0; round < 300; round += 1) {
      const query: Query = { filter: makeFilter(2), pipes: [] };
      const expected = runQuery(query, newestFirst, readerOf).records.map((row) => row.span_id);
      const found = await spans(query.filter).catch((error: Error) => [error.message]);
      expect({ filter: printFilter(query.filter), found }).toEqual({
        filter: printFilter(query.filter),
        found: expected,
      });
    }
  }, 240_000);

  it.each([
    '* | stats count()',
    '* | stats count() as n by (ClientCountry)',
    '* | stats count() as n, uniq(user.id) as u by (service, severity_number) | sort n desc | limit 5',
    'error | stats sum(EdgeResponseStatus), avg(EdgeResponseStatus) as a, min(EdgeResponseStatus) as lo, max(EdgeResponseStatus) as hi by (ClientRequestHost)',
    '* | stats p50(EdgeResponseStatus) as m, p95(EdgeResponseCompressionRatio) as r by (dataset)',
    '* | stats sum(labels) as s, avg(labels) as a, min(labels) as lo, max(labels) as hi, p90(labels) as p, uniq(labels) as u, count() as n',
    '* | stats sum(user.id) as s, avg(http.response.status_code) as a, uniq(http.response.status_code) as u by (http.request.method)',
    'nothing_matches_this | stats count() as n, sum(EdgeResponseStatus) as s, avg(labels) as a, min(user.id) as lo, p99(EdgeResponseStatus) as p, uniq(service) as u',
    '* | stats count() as n by (BotTags) | sort n desc | limit 1',
    '* | stats count() as n by (labels)',
    '* | stats count() as n by (CacheTieredFill, EdgeResponseCompressionRatio)',
    '* | stats max(CacheTieredFill) as b, max(OriginResponseTime) as t',
    '* | fields span_id, EdgeResponseStatus, CacheTieredFill, BotTags, ClientCountry, EdgeResponseCompressionRatio, nothing | limit 50',
    '* | sort EdgeResponseStatus desc | limit 30 | fields span_id, EdgeResponseStatus',
    '* | sort user.id | limit 100 | fields span_id, user.id',
    '* | sort ClientRequestUserAgent desc | fields span_id',
    '* | sort service | sort severity_number desc | limit 40 | fields span_id',
    '* | limit 100 | stats count() as n by (service)',
    '* | limit 50 | sort EdgeResponseCompressionRatio | limit 10 | fields span_id',
    '* | stats count() as n by (RayID) | sort RayID desc | limit 10',
    '* | stats count() as n by (service) | fields n | sort n',
    '* | fields span_id | limit 3 | fields span_id, span_id',
  ])('makes the rows of %s', async (text) => {
    const query = parsed(text);
    const expected = runQuery(query, newestFirst, readerOf).rows ?? [];
    const answer = await store.search.query({ ...EVERYTHING, query, limit: 10_000, order: 'desc' });
    if (answer.kind !== 'rows') throw new Error('not rows');
    const rows = answer.rows.map((row) => Object.fromEntries(answer.columns.map((name, index) => [name, row[index]])));
    const plain = (item: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(
        Object.entries(item).map(([name, cell]) => [
          name,
          typeof cell === 'number'
            ? Number(cell.toPrecision(12))
            : typeof cell === 'bigint'
              ? Number.isSafeInteger(Number(cell))
                ? Number(cell)
                : String(cell)
              : cell,
        ]),
      );
    const sorted = text.includes('sort') || !text.includes('stats');
    const key = (item: object) =>
      JSON.stringify(item, (_, cell: unknown) => (typeof cell === 'bigint' ? String(cell) : cell));
    const order = (items: readonly object[]) => (sorted ? items.map(key) : items.map(key).sort());
    expect(order(rows.map(plain))).toEqual(order(expected.map((row) => plain(row))));
    expect(printQuery(query)).not.toBe('');
  });

  it('gives records whole, with their fields and OpenTelemetry names', async () => {
    const answer = await store.search.query({ ...EVERYTHING, query: parsed('*'), limit: 2000, order: 'asc' });
    if (answer.kind !== 'records') throw new Error('not records');
    expect(answer.records.length).toBe(ROWS.length);
    for (const [index, record] of answer.records.entries()) {
      const row = ROWS[index] as RecordRow;
      expect(record).toMatchObject({
        timestamp: row.timestamp,
        body: row.body,
        raw: row.raw,
        severity_number: row.severity_number,
        observed_timestamp: '1750000000000000000',
      });
      const read = readerOf(row);
      for (const name of FIELDS.filter(
        (field) => COLUMNS.has(field) || field.startsWith('user') || field === 'labels',
      )) {
        const expected = read(name);
        const found = record.attributes[name];
        if (typeof expected === 'bigint' && row.dataset !== 'otlp') {
          expect(found).toEqual(Number.isSafeInteger(Number(expected)) ? Number(expected) : String(expected));
        } else expect(String(found)).toEqual(String(expected));
      }
    }
    expect(answer.records.some((record) => record.attributes['http.request.method'] === '_OTHER')).toBe(true);
  });

  it('pages through records without losing or repeating one', async () => {
    const seen: string[] = [];
    for (let offset = 0; ; offset += 400) {
      const answer = await store.search.query({ ...EVERYTHING, query: parsed('*'), limit: 400, offset, order: 'desc' });
      if (answer.kind !== 'records' || answer.records.length === 0) break;
      seen.push(...answer.records.map(({ span_id }) => span_id));
    }
    expect(seen).toEqual(newestFirst.map(({ span_id }) => span_id));
  });

  it('keeps to the range: from inclusive, to exclusive', async () => {
    const at = (index: number) => BigInt((ROWS[index] as RecordRow).timestamp);
    const answer = await store.search.query({
      org: 'main',
      from: at(10),
      to: at(20),
      query: parsed('*'),
      limit: 100,
      order: 'asc',
    });
    expect(answer.kind === 'records' && answer.records.map(({ timestamp }) => timestamp)).toEqual(
      ROWS.slice(10, 20).map(({ timestamp }) => timestamp),
    );
    const far = await store.search.query({
      org: 'main',
      from: -(10n ** 30n),
      to: 10n ** 30n,
      query: parsed('* | stats count() as n'),
      limit: 1,
      order: 'asc',
    });
    expect(far).toMatchObject({ rows: [[ROWS.length]] });
  });

  it('counts over time, in all and by a field', async () => {
    const step = 60_000_000_000n;
    const hits = await store.search.hits({
      ...EVERYTHING,
      to: START + 1_600_000_000_000n,
      query: parsed('error'),
      step,
    });
    const matching = runQuery(parsed('error'), ROWS, readerOf).records;
    expect(hits.total).toBe(matching.length);
    const expected = new Map<string, number>();
    for (const { timestamp } of matching) {
      const bucket = String((BigInt(timestamp) / step) * step);
      expected.set(bucket, (expected.get(bucket) ?? 0) + 1);
    }
    expect(hits.series).toHaveLength(1);
    expect(
      hits.timestamps.map((start, index) => [start, hits.series[0]?.counts[index]]).filter(([, count]) => count !== 0),
    ).toEqual([...expected].sort());
    expect(hits.step).toBe(60);
    const by = await store.search.hits({
      ...EVERYTHING,
      to: START + 1_600_000_000_000n,
      query: parsed('*'),
      step,
      by: 'ClientCountry',
    });
    const totals = Object.fromEntries(by.series.map(({ value: name, total }) => [String(name), total]));
    for (const country of ['de', 'us', 'DE', 'fr'])
      expect(totals[country]).toBe(ROWS.filter((row) => row['ClientCountry'] === country).length);
    expect(totals['null']).toBe(ROWS.filter((row) => row['ClientCountry'] === undefined).length);
    await expect(store.search.hits({ ...EVERYTHING, query: parsed('*'), step: 1_000_000n })).rejects.toMatchObject({
      code: 'query_invalid',
    });
  });

  it('finds frequent values of fields, of lists too, and of one field by how they begin', async () => {
    const facets = await store.search.facets({
      ...EVERYTHING,
      query: parsed('*'),
      fields: ['ClientCountry', 'labels', 'EdgeResponseStatus', 'nothing'],
      limit: 3,
    });
    const count = (values: readonly string[]) => {
      const counts = new Map<string, number>();
      for (const item of values) counts.set(item, (counts.get(item) ?? 0) + 1);
      return [...counts]
        .map(([name, n]) => ({ value: name, count: n }))
        .sort((left, right) => right.count - left.count || (left.value < right.value ? -1 : 1));
    };
    const countries = count(ROWS.flatMap((row) => (row['ClientCountry'] as string | undefined) ?? []));
    const labels = count(ROWS.flatMap((row) => (row.attributes as Record<string, string[]>)['labels'] ?? []));
    expect(facets.total).toBe(ROWS.length);
    expect(facets.facets).toEqual([
      { field: 'ClientCountry', values: countries.slice(0, 3) },
      { field: 'labels', values: labels.slice(0, 3) },
      {
        field: 'EdgeResponseStatus',
        values: count(ROWS.flatMap((row) => (row['EdgeResponseStatus'] as string | undefined) ?? [])).slice(0, 3),
      },
      { field: 'nothing', values: [] },
    ]);
    const telling = await store.search.facets({ ...EVERYTHING, query: parsed('*'), limit: 5 });
    expect(telling.facets.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['dataset', 'service', 'EdgeResponseStatus', 'ClientCountry']),
    );
    const values = await store.search.fieldValues({
      ...EVERYTHING,
      query: parsed('*'),
      field: 'ClientCountry',
      prefix: 'd',
      limit: 10,
    });
    expect(values.values).toEqual(countries.filter(({ value: name }) => name.toLowerCase().startsWith('d')));
  });

  it('lists the fields that records have', async () => {
    const { fields } = await store.search.fieldNames({ ...EVERYTHING, query: parsed('ClientCountry:de'), limit: 500 });
    const matching = runQuery(parsed('ClientCountry:de'), ROWS, readerOf).records;
    const counts = Object.fromEntries(fields.map(({ name, count }) => [name, count]));
    for (const name of [
      'ClientCountry',
      'EdgeResponseStatus',
      'BotTags',
      'CacheTieredFill',
      'service',
      'user.id',
      'labels',
      'deep.path.x',
    ]) {
      expect([name, counts[name]]).toEqual([name, matching.filter((row) => readerOf(row)(name) !== undefined).length]);
    }
    expect(counts['QueryName']).toBeUndefined();
    expect((await store.search.fieldNames({ ...EVERYTHING, query: parsed('*'), limit: 3 })).fields).toHaveLength(3);
    expect(
      (await store.search.fieldNames({ ...EVERYTHING, query: parsed('no_such_word_anywhere'), limit: 3 })).fields,
    ).toEqual([]);
  });

  it('gives the neighbours of a record', async () => {
    const all = await store.search.query({ ...EVERYTHING, query: parsed('*'), limit: 2000, order: 'asc' });
    if (all.kind !== 'records') throw new Error('not records');
    const place = 700;
    const record = all.records[place] as LogRecord;
    const same = all.records
      .map((item, index) => ({ item, index }))
      .filter(({ item }) => item.dataset === record.dataset);
    const near = { org: 'main', id: record.id, timestamp: BigInt(record.timestamp), before: 4, after: 3 };
    expect(await store.search.context(near)).toEqual({
      before: same
        .filter(({ index }) => index < place)
        .slice(-4)
        .map(({ item }) => item),
      record,
      after: same
        .filter(({ index }) => index > place)
        .slice(0, 3)
        .map(({ item }) => item),
    });
    const byService = await store.search.context({ ...near, same: ['service', 'ClientCountry'] });
    const agrees = (item: LogRecord) =>
      item.service === record.service && item.attributes['ClientCountry'] === record.attributes['ClientCountry'];
    expect([...(byService?.before ?? []), ...(byService?.after ?? [])].every(agrees)).toBe(true);
    expect(await store.search.context({ ...near, org: 'other' })).toBeUndefined();
    expect(await store.search.context({ ...near, id: 'ffffffffffffffff' })).toBeUndefined();
    expect(await store.search.context({ ...near, id: 'nonsense' })).toBeUndefined();
  });

  it('exports lines byte for byte, records as NDJSON, and columns as CSV', async () => {
    const whole = async (request: Parameters<LogStore['search']['export']>[0]) => {
      const chunks: Buffer[] = [];
      for await (const chunk of store.search.export(request)) chunks.push(chunk);
      return Buffer.concat(chunks).toString();
    };
    expect(await whole({ ...EVERYTHING, query: parsed('*'), format: 'raw' })).toBe(
      ROWS.map(({ raw }) => `${raw}\n`).join(''),
    );
    const ndjson = (await whole({ ...EVERYTHING, query: parsed('*'), format: 'ndjson', limit: 20 }))
      .trimEnd()
      .split('\n');
    expect(ndjson.map((line) => (JSON.parse(line) as LogRecord).span_id)).toEqual(
      ROWS.slice(0, 20).map(({ span_id }) => span_id),
    );
    const csv = await whole({
      ...EVERYTHING,
      query: parsed('*'),
      format: 'csv',
      fields: ['span_id', 'body'],
      limit: 200,
    });
    expect(csv.startsWith('span_id,body\r\n')).toBe(true);
    expect(csv).toContain('"');
    const rows = await whole({
      ...EVERYTHING,
      query: parsed('* | stats count() as n by (dataset) | sort dataset'),
      format: 'ndjson',
    });
    expect(
      rows
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { dataset: string }).dataset),
    ).toEqual(['gateway_dns', 'http_requests', 'otlp']);
    expect(() => store.search.export({ ...EVERYTHING, query: parsed('* | stats count()'), format: 'raw' })).toThrow(
      /ndjson/,
    );
  });

  it('follows what comes, each record once', async () => {
    const leave = new AbortController();
    const seen: string[] = [];
    const from = BigInt(Date.now()) * 1_000_000n;
    const following = (async () => {
      for await (const { records } of store.search.tail({
        org: 'main',
        query: parsed('tailed'),
        from,
        signal: leave.signal,
      })) {
        seen.push(...records.map(({ body }) => body));
        if (seen.length >= 4) leave.abort();
      }
    })();
    for (let n = 0; n < 4; n += 1) {
      const plain = Buffer.from(
        JSON.stringify({ timestamp: String(BigInt(Date.now()) * 1_000_000n), body: `tailed ${n}`, raw: `t${n}` }),
      );
      await store.append({
        org: 'main',
        dataset: 'otlp',
        receivedAt: String(from),
        hash: createHash('sha256').update(plain).digest('hex'),
        contentEncoding: 'identity',
        form: 'records',
        records: 1,
        plainBytes: plain.length,
        body: [plain],
      });
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await following;
    expect(seen).toEqual(['tailed 0', 'tailed 1', 'tailed 2', 'tailed 3']);
  });

  it('says when the engine is not there, when a search needs too much memory, and stops when the client leaves', async () => {
    const small = await createLogStore({
      dataDirectory: join(root, 'small'),
      engine: { kind: 'embedded', memoryLimit: 1e9 },
      log: quiet,
      minFreeBytes: 0,
      queryLimits: { timeout: 5000, memory: 4_000_000 },
    });
    const counting = { ...EVERYTHING, query: parsed('* | stats uniq(raw)'), limit: 1, order: 'desc' } as const;
    await expect(small.search.query(counting)).rejects.toMatchObject({ code: 'store_unavailable' });
    const signal = AbortSignal.timeout(10);
    expect(() => small.search.tail({ org: 'main', query: parsed('*'), from: 0n, signal })).toThrow(
      expect.objectContaining({ code: 'store_unavailable' }),
    );
    small.start();
    const plain = Buffer.from(
      Array.from(
        { length: 60_000 },
        (_, n) => `{"timestamp":"${START + BigInt(n)}","raw":"${n}-${'x'.repeat(100)}"}`,
      ).join('\n'),
    );
    await small.append({
      org: 'main',
      dataset: 'otlp',
      receivedAt: '1',
      hash: createHash('sha256').update(plain).digest('hex'),
      contentEncoding: 'identity',
      form: 'records',
      records: 60_000,
      plainBytes: plain.length,
      body: [plain],
    });
    await small.whenReady();
    await small.loaded();
    await expect(small.search.query(counting)).rejects.toMatchObject({ code: 'query_too_large' });
    await small.stop();
    const gone = AbortSignal.abort(new Error('left'));
    await expect(store.search.query({ ...counting, signal: gone })).rejects.toThrow('left');
    await expect(
      store.search.export({ ...EVERYTHING, query: parsed('*'), format: 'raw', signal: gone }).next(),
    ).rejects.toThrow('left');
  });
});
