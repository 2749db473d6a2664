/** Delivers generated records to a running service and holds what its store answers against the definition of the query language. */
import {
  compareText,
  type FieldReader,
  type FieldValue,
  parseQuery,
  printQuery,
  type Query,
  runQuery,
  scalarsOf,
  toJson,
  toText,
} from '@obsiac/model';
import type { QueryVocabulary } from '../../model/test/query-arbitrary.ts';
import { COLUMNS, RENAMED_FIELDS, type RecordRow } from '../src/log-store/index.ts';
import { OTEL_FIELDS } from '../src/log-store/search/otel-fields.ts';
import { findOrganization } from '../src/metadata/organizations.ts';
import { closeStore } from '../src/metadata/store.ts';
import { LineGenerator, SPAN, START, WORDS } from './log-lines.ts';
import type { LogService } from './logs.ts';
import { type ExpectedRecord, expectedRecords, readerOf, recordKey } from './record-reader.ts';

const RANGE = { from: START - 10_000_000_000n, to: START + 2n * SPAN };
const BATCH = 250;

export interface Difference {
  readonly query: string;
  readonly search: string;
  readonly expected: unknown;
  readonly found: unknown;
}

export class Differential {
  readonly #service: LogService;
  readonly #org: string;
  /** Newest first, records of one instant by id: the order of the store. */
  readonly #readers: readonly FieldReader[];
  readonly #rows: ReadonlyMap<FieldReader, RecordRow>;
  readonly vocabulary: QueryVocabulary;
  readonly counts = { queries: 0, refused: 0, none: 0, some: 0, all: 0, rows: 0 };

  private constructor(service: LogService, org: string, records: readonly ExpectedRecord[]) {
    this.#service = service;
    this.#org = org;
    this.#readers = records.map(readerOf);
    this.#rows = new Map(this.#readers.map((read, index) => [read, records[index]!.row]));
    this.vocabulary = vocabularyOf(records, this.#readers);
  }

  get records(): number {
    return this.#readers.length;
  }

  /** Delivers about so many records over HTTP and waits until they are found. */
  static async begin(service: LogService, records: number, seed: number): Promise<Differential> {
    const expected = await deliver(service, records, seed);
    await service.app.logs!.store.loaded();
    const org = await organization(service);
    await identify(service, org, expected);
    expected.sort((left, right) => order(right) - order(left) || compareText(right.id, left.id));
    return new Differential(service, org, expected);
  }

  /** Undefined: the store agrees. Queries that the parser refuses are counted and not asked. */
  async compare(generated: Query): Promise<Difference | undefined> {
    const text = printQuery(generated);
    const { query } = parseQuery(text);
    this.counts.queries += 1;
    if (query === undefined) {
      this.counts.refused += 1;
      return undefined;
    }
    const isRows = query.pipes.some(({ kind }) => kind === 'stats' || kind === 'fields');
    return isRows ? this.#compareRows(text, query) : this.#compareRecords(text, query);
  }

  async #compareRecords(text: string, query: Query): Promise<Difference | undefined> {
    const matching = this.#matching(query);
    const expected = matching.map((read) => read('id'));
    this.counts[expected.length === 0 ? 'none' : expected.length === this.records ? 'all' : 'some'] += 1;
    const ids: Query = { ...query, pipes: [...query.pipes, { kind: 'fields', fields: ['id'] }] };
    const answer = await this.#store.query({ ...this.#scope(ids), limit: 1_000_000, order: 'desc' });
    const found = answer.kind === 'rows' ? answer.rows.flat() : answer.records.map(({ id }) => id);
    return difference(text, 'records', this.#described(expected, found), this.#described(found, expected));
  }

  /** The ids, after the first record that only these have. */
  #described(ids: readonly unknown[], others: readonly unknown[]): unknown[] {
    const known = new Set(others);
    const odd = ids.find((id) => !known.has(id));
    const read = this.#readers.find((each) => each('id') === odd);
    return [...(read === undefined ? [] : [this.#rows.get(read)]), ...ids];
  }

  async #compareRows(text: string, query: Query): Promise<Difference | undefined> {
    this.counts.rows += 1;
    const { rows } = runQuery(query, this.#readers, (read) => read);
    const answer = await this.#store.query({ ...this.#scope(query), limit: 1_000_000, order: 'desc' });
    if (answer.kind !== 'rows') throw new Error(`no rows: ${text}`);
    const expected = (rows ?? []).map((row) => Object.values(row).map(plainValue));
    return difference(text, 'rows', expected, answer.rows);
  }

  /** Histogram, facets, values and names of fields over the query's filter. */
  async compareCounts(generated: Query, seed: number): Promise<Difference | undefined> {
    const text = printQuery({ filter: generated.filter, pipes: [] });
    const { query } = parseQuery(text);
    if (query === undefined) return undefined;
    const { fields } = this.vocabulary;
    const asked = [0, 1, 2, 3].map((index) => fields[(seed * 4 + index) % fields.length]!);
    return (
      (await this.#compareFacets(text, query, asked)) ??
      (await this.#compareHits(text, query, asked[0]!)) ??
      (await this.#compareFieldValues(text, query, asked[1]!)) ??
      (await this.#compareFieldNames(text, query))
    );
  }

  async #compareFacets(text: string, query: Query, asked: readonly string[]): Promise<Difference | undefined> {
    const matching = this.#matching(query);
    const answer = await this.#store.facets({ ...this.#scope(query), fields: asked, limit: 100 });
    const expected = [...new Set(asked)].map((field) => ({ field, values: valueCounts(matching, field, 100) }));
    const found = answer.facets.map(({ field, values }) => ({ field, values: [...values].sort(byCount) }));
    return difference(
      text,
      'facets',
      { total: matching.length, facets: expected },
      { total: answer.total, facets: found },
    );
  }

  async #compareHits(text: string, query: Query, by: string): Promise<Difference | undefined> {
    const matching = this.#matching(query);
    const step = 61_000_000_007n;
    const answer = await this.#store.hits({ ...this.#scope(query), step });
    const expected = new Map<string, number>();
    for (const read of matching) {
      const bucket = String(((read('timestamp') as bigint) / step) * step);
      expected.set(bucket, (expected.get(bucket) ?? 0) + 1);
    }
    const found = answer.timestamps
      .map((start, index): [string, number] => [start, answer.series[0]!.counts[index]!])
      .filter(([, count]) => count > 0);
    const whole = difference(text, 'hits', [matching.length, ...[...expected].sort()], [answer.total, ...found]);
    if (whole !== undefined) return whole;
    const series = await this.#store.hits({ ...this.#scope(query), step, by });
    const groups = new Map<string, number>();
    for (const read of matching) groups.set(groupText(read(by)), (groups.get(groupText(read(by))) ?? 0) + 1);
    const rest = groups.get('') ?? 0;
    groups.delete('');
    const frequent = [...groups].map(([value, count]) => ({ value, count })).sort(byCount);
    const others = frequent.slice(10).reduce((sum, { count }) => sum + count, rest);
    const lines = [
      ...frequent.slice(0, 10).map(({ value, count }) => [value, count]),
      ...(others > 0 ? [[null, others]] : []),
    ];
    return difference(
      text,
      `hits by ${by}`,
      lines,
      series.series.map(({ value, total }) => [value, total]),
    );
  }

  async #compareFieldValues(text: string, query: Query, field: string): Promise<Difference | undefined> {
    const answer = await this.#store.fieldValues({ ...this.#scope(query), field, prefix: '', limit: 50 });
    return difference(text, `values of ${field}`, valueCounts(this.#matching(query), field, 50), answer.values);
  }

  async #compareFieldNames(text: string, query: Query): Promise<Difference | undefined> {
    const matching = this.#matching(query);
    // Of more, the store counts in a sample.
    if (matching.length > 20_000) return undefined;
    const answer = await this.#store.fieldNames({ ...this.#scope(query), limit: 10_000 });
    const counts = new Map<string, number>();
    for (const read of matching) {
      for (const name of fieldNames(this.#rows.get(read)!, read)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const expected = [...counts].sort();
    const found = answer.fields.map(({ name, count }) => [name, count]).sort();
    return difference(text, 'field names', expected, found);
  }

  #matching(query: Query): readonly FieldReader[] {
    return runQuery(query, this.#readers, (read) => read).records;
  }

  get #store() {
    return this.#service.app.logs!.store.search;
  }

  #scope(query: Query) {
    return { org: this.#org, ...RANGE, query };
  }
}

const LISTED_PARTS = ['dataset', 'service', 'severity_text', 'severity_number', 'trace_id', 'span_id', 'body'];

/** Names that a list of fields has: parts, columns and attributes, and not what else these can be called. */
function fieldNames(row: RecordRow, read: FieldReader): string[] {
  const parts = LISTED_PARTS.filter((name) => read(name) !== undefined);
  const columns = Object.keys(row).filter((name) => COLUMNS.has(name) && read(name) !== undefined);
  return [...parts, ...columns, ...Object.keys(row.attributes ?? {})];
}

async function deliver(service: LogService, records: number, seed: number): Promise<ExpectedRecord[]> {
  const generator = new LineGenerator(seed);
  const expected: ExpectedRecord[] = [];
  while (expected.length < records) {
    const delivery = generator.delivery(Math.min(BATCH, records - expected.length));
    const made = expectedRecords(delivery);
    expected.push(...made);
    const { authorization } = service.access;
    const answer =
      delivery.kind === 'otlp'
        ? await service.deliver('/v1/logs', delivery.request, { authorization, 'content-type': 'application/json' })
        : await service.push(delivery.lines, delivery.dataset === undefined ? '' : `?dataset=${delivery.dataset}`);
    const taken = delivery.kind === 'otlp' ? delivery.records : answer.body?.accepted;
    const given = delivery.kind === 'otlp' ? delivery.records : delivery.lines.length;
    if (answer.status !== 200 || taken !== given) throw new Error(`not taken: ${answer.status} ${answer.text}`);
  }
  return expected;
}

async function organization(service: LogService): Promise<string> {
  const store = await service.openStore();
  try {
    return (await findOrganization(store.db, 'default'))!.id;
  } finally {
    await closeStore(store);
  }
}

/** Learns the ids of the records from the store, and that it has each of them as often as it was delivered. */
async function identify(service: LogService, org: string, expected: readonly ExpectedRecord[]): Promise<void> {
  const query: Query = {
    filter: { kind: 'all' },
    pipes: [{ kind: 'fields', fields: ['id', 'dataset', 'raw', 'part'] }],
  };
  const all = { org, ...RANGE, query, limit: 1_000_000, order: 'asc' } as const;
  const answer = await service.app.logs!.store.search.query(all);
  if (answer.kind !== 'rows') throw new Error('no rows');
  const ids = new Map<string, string[]>();
  for (const [id, dataset, raw, part] of answer.rows as [string, string, string, number][]) {
    const key = recordKey(dataset, raw, part);
    ids.set(key, [...(ids.get(key) ?? []), id]);
  }
  for (const record of expected) {
    const key = recordKey(record.dataset, record.row.raw!, record.row.part ?? 0);
    const id = ids.get(key)?.pop();
    if (id === undefined) throw new Error(`the store does not have ${key}`);
    record.id = id;
  }
  if (answer.rows.length !== expected.length)
    throw new Error(`the store has ${answer.rows.length} records of ${expected.length}`);
}

function order({ row }: ExpectedRecord): number {
  return Number(BigInt(row.timestamp) - START);
}

const NUMBERS = [
  ...['0', '1', '5', '-3', '2.5', '30', '99', '200', '404', '500', '503', '1000', '1e2'],
  ...['9007199254740992', '9007199254740993', '+09007199254740993', '9007199254740993.0', '12345678901234567890'],
];
const PATTERNS = [
  '^e',
  'r+or',
  '(?i)CART',
  '[0-9]{3}',
  '4.',
  'n$',
  '^$',
  'a|b',
  '\\bcart\\b',
  '漢|ü',
  '\\\\s',
  'e.d',
  '(?s)e.d',
  '^.*$',
  '\\d+',
  '[^a-z]',
  '(?m)^end',
  '\\pL+',
  'x{2,}|y?$',
];

/** Real values of every field there is, besides odd ones. */
function vocabularyOf(records: readonly ExpectedRecord[], readers: readonly FieldReader[]): QueryVocabulary {
  const names = new Set(['body', 'dataset', 'service', 'severity_number', 'severity_text', 'trace_id', 'span_id']);
  for (const { row } of records) {
    for (const name of Object.keys(row)) if (COLUMNS.has(name)) names.add(name);
    for (const name of Object.keys(row.attributes ?? {})) names.add(name);
  }
  for (const name of ['id', 'timestamp', 'raw', 'part', 'service.name']) names.add(name);
  for (const name of ['EdgeStartTimestamp', 'Datetime', 'Timestamp', 'nothing.here']) names.add(name);
  for (const name of [...OTEL_FIELDS.keys(), ...RENAMED_FIELDS.keys()]) names.add(name);
  const valuesOf = new Map<string, readonly string[]>();
  const stride = Math.max(1, Math.floor(readers.length / 500));
  for (const name of names) {
    const values = new Set<string>();
    for (let index = 0; index < readers.length && values.size < 40; index += stride) {
      for (const value of scalarsOf(readers[index]!(name))) if (toText(value) !== '') values.add(toText(value));
    }
    if (values.size > 0) valuesOf.set(name, [...values]);
  }
  const bodies = (valuesOf.get('body') ?? []).flatMap((body) => body.split(/[\s/?=]+/)).filter((word) => word !== '');
  return { fields: [...names], texts: [...WORDS, ...bodies], numbers: NUMBERS, valuesOf, patterns: PATTERNS };
}

interface Counted {
  readonly value: string;
  readonly count: number;
}

function byCount(left: Counted, right: Counted): number {
  return right.count - left.count || compareText(left.value, right.value);
}

/** Each element of a list counts. */
function valueCounts(matching: readonly FieldReader[], field: string, limit: number): Counted[] {
  const counts = new Map<string, number>();
  for (const read of matching) {
    for (const scalar of scalarsOf(read(field))) {
      const value = toText(scalar);
      if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort(byCount)
    .slice(0, limit);
}

function groupText(value: FieldValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? toJson(value) : toText(value);
}

/** As the API gives it: whole numbers beyond 2^53 are texts. */
function plainValue(value: FieldValue): unknown {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

function difference(query: string, search: string, expected: unknown, found: unknown): Difference | undefined {
  return same(expected, found) ? undefined : { query, search, expected, found };
}

/** Sums of floating point depend on their order: the last digits may differ. */
function same(expected: unknown, found: unknown): boolean {
  if (typeof expected === 'number' && typeof found === 'number') {
    return Math.abs(expected - found) <= 1e-9 * Math.max(Math.abs(expected), Math.abs(found));
  }
  if (Array.isArray(expected) && Array.isArray(found)) {
    return expected.length === found.length && expected.every((item, index) => same(item, found[index]));
  }
  if (typeof expected === 'object' && expected !== null && typeof found === 'object' && found !== null) {
    return same(Object.entries(expected), Object.entries(found));
  }
  return expected === found;
}
