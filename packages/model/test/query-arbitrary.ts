/** Generated log queries: every kind of node, with texts that collide with the values of generated records. */
import fc from 'fast-check';
import type { Aggregate, Filter, Matcher, Pipe, Query } from '../src/query/ast.ts';
import { printAggregate } from '../src/query/print.ts';

const span = { from: 0, to: 0 };

export interface QueryVocabulary {
  /** Names of fields, aliases included. */
  readonly fields: readonly string[];
  /** Texts that occur in values and bodies. */
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
  /** Texts that occur as values of one field, so that terms find something. */
  readonly valuesOf?: ReadonlyMap<string, readonly string[]>;
  /** Regular expressions in RE2 syntax. */
  readonly patterns?: readonly string[];
}

const PATTERNS = ['^a', '[0-9]{3}', 'GET|POST', '(?i)error', 'x.*y', '\\.example'];

export function queryArbitrary(vocabulary: QueryVocabulary): fc.Arbitrary<Query> {
  const filter = filterArbitrary(vocabulary);
  return fc.record({
    filter: fc.oneof({ arbitrary: filter, weight: 9 }, fc.constant<Filter>({ kind: 'all' })),
    pipes: pipesArbitrary(vocabulary),
  });
}

function matcherArbitrary(vocabulary: QueryVocabulary, field: string | null): fc.Arbitrary<Matcher> {
  const { texts, numbers, patterns = PATTERNS } = vocabulary;
  const values = field === null ? undefined : vocabulary.valuesOf?.get(field);
  const text = fc.oneof(
    { arbitrary: fc.constantFrom(...texts), weight: 4 },
    ...(values === undefined ? [] : [{ arbitrary: fc.constantFrom(...values), weight: 8 }]),
    fc.string({ minLength: 1, maxLength: 6 }),
    fc.constantFrom(...numbers),
  );
  const cased = fc.tuple(text, fc.nat(5)).map(([value, turn]) => inOtherCase(value, turn));
  const bound = fc.oneof(fc.constantFrom(...numbers), text);
  const words: fc.Arbitrary<Matcher>[] = [
    cased.map((value): Matcher => ({ kind: 'word', text: value })),
    cased.map((value): Matcher => ({ kind: 'phrase', text: value })),
    globArbitrary(text),
    fc.constantFrom(...patterns).map((pattern): Matcher => ({ kind: 'regex', pattern })),
  ];
  if (field === null) return fc.oneof(...words);
  return fc.oneof(
    ...words,
    fc.record({ kind: fc.constant('compare' as const), operator: fc.constantFrom('>', '>=', '<', '<='), text: bound }),
    fc.record({ kind: fc.constant('range' as const), low: fc.option(bound), high: fc.option(bound) }),
    fc.constant<Matcher>({ kind: 'exists' }),
  );
}

function inOtherCase(text: string, turn: number): string {
  if (turn === 0) return text.toUpperCase();
  return turn === 1 ? text.toLowerCase() : text;
}

/** Two parts or more, only the outer ones empty, and not all empty (that would be `exists`). */
function globArbitrary(text: fc.Arbitrary<string>): fc.Arbitrary<Matcher> {
  const piece = fc
    .tuple(text, fc.nat(12))
    .map(([value, from]) => cut(value, from))
    .filter((value) => value !== '');
  return fc
    .tuple(fc.boolean(), fc.array(piece, { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([open, parts, close]) => [...(open ? [''] : []), ...parts, ...(close ? [''] : [])])
    .filter((parts) => parts.length > 1)
    .map((parts): Matcher => ({ kind: 'glob', parts }));
}

/** A few characters from somewhere in a text, surrogate pairs whole. */
function cut(text: string, from: number): string {
  const characters = [...text];
  const start = from % Math.max(1, characters.length);
  return characters.slice(start, start + 4).join('');
}

function filterArbitrary(vocabulary: QueryVocabulary): fc.Arbitrary<Filter> {
  const ofField = fc
    .constantFrom(...vocabulary.fields)
    .chain((field) =>
      matcherArbitrary(vocabulary, field).map((matcher): Filter => ({ kind: 'match', field, matcher, span })),
    );
  const ofBody = matcherArbitrary(vocabulary, null).map(
    (matcher): Filter => ({ kind: 'match', field: null, matcher, span }),
  );
  const { filter } = fc.letrec<{ filter: Filter; group: Filter }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      { arbitrary: ofField, weight: 4 },
      { arbitrary: ofBody, weight: 2 },
      { arbitrary: tie('group'), weight: 3 },
    ),
    group: fc.oneof(
      fc.array(tie('filter'), { minLength: 2, maxLength: 3 }).map((items): Filter => ({ kind: 'and', items })),
      fc.array(tie('filter'), { minLength: 2, maxLength: 3 }).map((items): Filter => ({ kind: 'or', items })),
      tie('filter').map((item): Filter => ({ kind: 'not', item })),
    ),
  }));
  return filter.map(flatten);
}

/** What the parser gives: no `and` directly in an `and`, no `or` directly in an `or`. */
function flatten(filter: Filter): Filter {
  if (filter.kind === 'not') return { kind: 'not', item: flatten(filter.item) };
  if (filter.kind !== 'and' && filter.kind !== 'or') return filter;
  return { kind: filter.kind, items: filter.items.map(flatten) };
}

function pipesArbitrary({ fields }: QueryVocabulary): fc.Arbitrary<Pipe[]> {
  const field = fc.constantFrom(...fields);
  const limit = fc.integer({ min: 1, max: 50 }).map((count): Pipe => ({ kind: 'limit', count }));
  const sort = fc.record({ kind: fc.constant('sort' as const), field, descending: fc.boolean() });
  const pick = fc
    .uniqueArray(field, { minLength: 1, maxLength: 3 })
    .map((names): Pipe => ({ kind: 'fields', fields: names }));
  const stats = fc
    .tuple(fc.array(aggregateArbitrary(field), { minLength: 1, maxLength: 3 }), fc.uniqueArray(field, { maxLength: 2 }))
    .map(([aggregates, by]): StatsPipe => {
      const named = new Map(aggregates.map((aggregate) => [aggregate.as, aggregate]));
      return { kind: 'stats', aggregates: [...named.values()], by };
    });
  const before = fc.array(fc.oneof(sort, limit), { maxLength: 2 });
  return fc.oneof(
    { arbitrary: fc.constant<Pipe[]>([]), weight: 3 },
    { arbitrary: fc.tuple(before, stats.chain(afterStats)).map((parts) => parts.flat()), weight: 3 },
    {
      arbitrary: fc
        .tuple(before, pick, fc.array(fc.oneof(sort, limit), { maxLength: 2 }))
        .map(([first, picked, later]) => [...first, picked, ...later]),
      weight: 2,
    },
    { arbitrary: fc.array(fc.oneof(sort, limit), { minLength: 1, maxLength: 3 }), weight: 1 },
  );
}

type StatsPipe = Extract<Pipe, { kind: 'stats' }>;

/** What may follow `stats` knows only its columns. */
function afterStats(stats: StatsPipe): fc.Arbitrary<Pipe[]> {
  const columns = [...stats.by, ...stats.aggregates.map((aggregate) => aggregate.as)];
  const column = fc.constantFrom(...columns);
  const sort = fc.record({ kind: fc.constant('sort' as const), field: column, descending: fc.boolean() });
  const limit = fc.integer({ min: 1, max: 20 }).map((count): Pipe => ({ kind: 'limit', count }));
  const pick = fc
    .uniqueArray(column, { minLength: 1, maxLength: 3 })
    .map((names): Pipe => ({ kind: 'fields', fields: names }));
  return fc
    .tuple(fc.array(fc.oneof(sort, limit), { maxLength: 2 }), fc.option(pick, { freq: 4 }))
    .map(([ordered, picked]) => [stats, ...ordered, ...(picked === null ? [] : [picked])]);
}

function aggregateArbitrary(field: fc.Arbitrary<string>): fc.Arbitrary<Aggregate> {
  const named = (bare: Omit<Aggregate, 'as'>): Aggregate => ({ ...bare, as: printAggregate({ ...bare, as: '' }) });
  return fc.oneof(
    fc.constant(named({ name: 'count', field: null })),
    fc
      .tuple(fc.constantFrom('uniq', 'sum', 'avg', 'min', 'max'), field)
      .map(([name, of]) => named({ name, field: of })),
    fc
      .tuple(fc.constantFrom(0.5, 0.9, 0.95, 0.99), field)
      .map(([quantile, of]) => named({ name: 'quantile', field: of, quantile })),
  );
}
