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
}

export function queryArbitrary(vocabulary: QueryVocabulary): fc.Arbitrary<Query> {
  const filter = filterArbitrary(vocabulary);
  return fc.record({
    filter: fc.oneof({ arbitrary: filter, weight: 9 }, fc.constant<Filter>({ kind: 'all' })),
    pipes: pipesArbitrary(vocabulary),
  });
}

function matcherArbitrary({ texts, numbers }: QueryVocabulary, withField: boolean): fc.Arbitrary<Matcher> {
  const text = fc.oneof(
    { arbitrary: fc.constantFrom(...texts), weight: 4 },
    fc.string({ minLength: 1, maxLength: 6 }),
    fc.constantFrom(...numbers),
  );
  const bound = fc.oneof(fc.constantFrom(...numbers), text);
  const words: fc.Arbitrary<Matcher>[] = [
    text.map((value): Matcher => ({ kind: 'word', text: value })),
    text.map((value): Matcher => ({ kind: 'phrase', text: value })),
    globArbitrary(text),
    fc
      .constantFrom('^a', '[0-9]{3}', 'GET|POST', '(?i)error', 'x.*y', '\\.example')
      .map((pattern): Matcher => ({ kind: 'regex', pattern })),
  ];
  if (!withField) return fc.oneof(...words);
  return fc.oneof(
    ...words,
    fc.record({ kind: fc.constant('compare' as const), operator: fc.constantFrom('>', '>=', '<', '<='), text: bound }),
    fc.record({ kind: fc.constant('range' as const), low: fc.option(bound), high: fc.option(bound) }),
    fc.constant<Matcher>({ kind: 'exists' }),
  );
}

/** Two parts or more, only the outer ones empty, and not all empty (that would be `exists`). */
function globArbitrary(text: fc.Arbitrary<string>): fc.Arbitrary<Matcher> {
  const piece = text.map((value) => value.slice(0, 4)).filter((value) => value !== '');
  return fc
    .tuple(fc.boolean(), fc.array(piece, { minLength: 1, maxLength: 3 }), fc.boolean())
    .map(([open, parts, close]) => [...(open ? [''] : []), ...parts, ...(close ? [''] : [])])
    .filter((parts) => parts.length > 1)
    .map((parts): Matcher => ({ kind: 'glob', parts }));
}

function filterArbitrary(vocabulary: QueryVocabulary): fc.Arbitrary<Filter> {
  const ofField = fc
    .tuple(fc.constantFrom(...vocabulary.fields), matcherArbitrary(vocabulary, true))
    .map(([field, matcher]): Filter => ({ kind: 'match', field, matcher, span }));
  const ofBody = matcherArbitrary(vocabulary, false).map(
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
  const stats = fc
    .tuple(fc.array(aggregateArbitrary(field), { minLength: 1, maxLength: 3 }), fc.uniqueArray(field, { maxLength: 2 }))
    .map(([aggregates, by]): Pipe => {
      const named = new Map(aggregates.map((aggregate) => [aggregate.as, aggregate]));
      return { kind: 'stats', aggregates: [...named.values()], by };
    });
  return fc.oneof(
    { arbitrary: fc.constant<Pipe[]>([]), weight: 3 },
    { arbitrary: stats.map((pipe) => [pipe]), weight: 3 },
    {
      arbitrary: fc
        .uniqueArray(field, { minLength: 1, maxLength: 3 })
        .map((names): Pipe[] => [{ kind: 'fields', fields: names }]),
      weight: 1,
    },
    { arbitrary: limit.map((pipe) => [pipe]), weight: 1 },
  );
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
