/** Generated valid models for property tests: every field, awkward names and texts, no sources. */
import fc from 'fast-check';
import {
  type AdhocFilter,
  type AlertRule,
  CHANNEL_TYPES,
  type ChannelBinding,
  type Entity,
  type Indicator,
  MACROS,
  type Model,
  SEVERITIES,
  THRESHOLD_OPERATORS,
} from '../src/index.ts';

/** Names that have broken tools before: YAML words, numbers, syntax of three languages, members of every object. */
const AWKWARD_NAMES = [
  'Availability (%)',
  '5xx Status',
  'p99, latency (ms)',
  'errors/min',
  '4xx & 5xx > 1',
  'constructor',
  'toString',
  'hasOwnProperty',
  'yes',
  'null',
  '~',
  '1',
  '0x1F',
  '1.10',
  '- dash',
  '# hash',
  '? question',
  'a: b',
  "it's",
  'say "x"',
  '*star',
  '&anchor',
  '!bang',
  '{curly}',
  '[square]',
  '%percent',
  '@at',
  '`tick`',
  'high_spike(2, x)',
  'a, b), c',
  'Größe 数 🚀',
  '<<',
  'back\\slash',
];

// A name has no control character and no space around it; a surrogate pair is never torn by fast-check's units.
const isName = (text: string) => text.trim() !== '' && text === text.trim() && !/\p{Cc}/u.test(text);

/** A valid name of an indicator, a rule or a channel. */
export const nameArbitrary: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...AWKWARD_NAMES),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 16 }).filter((text) => isName(text) && text !== '__proto__'),
);

const AWKWARD_TEXTS = [
  '',
  'plain words',
  'two\nlines',
  'ends with a newline\n',
  'ends with two\n\n',
  '\n\nstarts with newlines',
  '  indented\nthen not',
  'trailing spaces   \nhere',
  '\ttab first',
  'a\tb\n\tc',
  'windows\r\nlines',
  'lone \r return',
  '{{ $labels.x }} is {{ printf "%.1f" $value }}',
  '{{ .Labels.x }}: {{ .Value }}',
  '# not a comment',
  'key: value',
  '- item',
  '---',
  '...',
  'true',
  '12',
  '\u2028 separator \u00a0 hard space \ufeff mark',
  ' ',
  '"quoted"',
  "'single'",
  '| pipe',
  '> fold\n\nparagraph\n  more\n',
];

// Control characters other than tab, newline and return are not allowed in any text of a model.
const isText = (text: string) => !/[^\P{Cc}\t\n\r]/u.test(text);

/** Any text a model may hold, often empty, sometimes with many lines. */
export const textArbitrary: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...AWKWARD_TEXTS),
  fc.string({ unit: 'grapheme', maxLength: 30 }).filter(isText),
  fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 12 }), { maxLength: 4 }).map((lines) => lines.join('\n')),
);

const slugArbitrary = fc
  .array(fc.stringMatching(/^[a-z0-9]{1,6}$/), { minLength: 1, maxLength: 3 })
  .map((words) => words.join('-'));

/** A map with free keys and texts, as `labels` and `annotations` are. */
const textMapArbitrary: fc.Arbitrary<Record<string, string>> = fc
  .uniqueArray(fc.tuple(nameArbitrary, textArbitrary), { maxLength: 4, selector: ([key]) => key })
  .map((entries) => Object.fromEntries(entries));

const labelNameArbitrary = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/).filter((name) => name !== '__proto__');

const matcherTextArbitrary = fc.oneof(
  fc.constantFrom('checkout|cart', 'eu-west-1', 'a"b', 'back\\slash', '.*', ''),
  fc.string({ unit: 'grapheme-ascii', maxLength: 8 }),
);

/** What may stand in a regular expression: the value of a variable in a `=~` matcher. */
const patternTextArbitrary = fc.oneof(
  fc.constantFrom('checkout|cart', 'eu-west-1', 'a"b', 'back\\\\slash', '.*', ''),
  fc.stringMatching(/^[a-z0-9_|.-]{0,8}$/),
);

/** A query and the variables it has, all of which a rule must bind. */
interface Query {
  readonly text: string;
  readonly variables: readonly string[];
}

const QUERIES: readonly Query[] = [
  { text: 'up', variables: [] },
  { text: 'sum(rate(http_requests_total{job="api"}[5m]))', variables: [] },
  { text: "sum by (pod) (increase(errors_total{code=~'5..'}[1m]))", variables: [] },
  {
    text: '100 * sum(rate(http_requests_total{status!~"5.."}[5m]))\n  / sum(rate(http_requests_total[5m]))',
    variables: [],
  },
  { text: 'absent(up{job="api"})', variables: [] },
  { text: 'histogram_quantile(0.99, sum by (le) (rate(latency_bucket[5m]))) # p99', variables: [] },
  { text: 'label_replace(up, "host", "$1", "instance", "(.*):.*")', variables: [] },
  { text: 'max_over_time(lag[10m:1m]) > bool 5\n', variables: [] },
  { text: 'sum by (service) (rate(requests_total{service="$service"}[5m]))', variables: ['service'] },
  {
    text: 'sum by (service) (rate(requests_total{service=~"${service}", region=~"$region.*"}[5m]))',
    variables: ['service', 'region'],
  },
];

interface IndicatorDraft {
  readonly indicator: Indicator;
  readonly variables: readonly string[];
}

const indicatorArbitrary = (name: string): fc.Arbitrary<IndicatorDraft> =>
  fc
    .record({
      query: fc.constantFrom(...QUERIES),
      unit: fc.oneof(fc.constantFrom('count', 'percent', '%', '1'), textArbitrary),
      description: textArbitrary,
      data_source: fc.oneof(fc.constant(''), nameArbitrary),
    })
    .map(({ query, ...rest }) => ({
      indicator: { name, query: query.text, ...rest },
      variables: query.variables,
    }));

const thresholdArbitrary = fc.record({
  operator: fc.constantFrom(...THRESHOLD_OPERATORS),
  value: fc
    .oneof(
      fc.integer({ min: -1000, max: 1000 }),
      fc.constantFrom(0.1, 99.95, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, 123456789.123),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    )
    .map((value) => value + 0),
});

const windowArbitrary = fc
  .oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(1, 5, 10, 60, 90, 1440))
  .chain((total_minutes) =>
    fc.record({ bad_minutes: fc.integer({ min: 1, max: total_minutes }) }).map((bad) => ({ ...bad, total_minutes })),
  );

const labelFilterArbitrary = (variables: readonly string[]): fc.Arbitrary<Record<string, string>> =>
  fc
    .tuple(...variables.map(() => patternTextArbitrary))
    .map((values) => Object.fromEntries(variables.map((name, index) => [name, values[index] ?? ''])));

const patternArbitrary = fc.option(
  fc.record({
    macro: fc.constantFrom(...MACROS),
    tolerance: fc.oneof(
      fc.integer({ min: 0, max: 10 }),
      fc.constantFrom(0.5, 2.25, 1e-7),
      fc.double({ min: 0, max: 10, noNaN: true }).map((value) => value + 0),
    ),
  }),
  { nil: undefined },
);

const ruleArbitrary = (name: string, description: string, drafts: readonly IndicatorDraft[]): fc.Arbitrary<AlertRule> =>
  fc.constantFrom(...drafts).chain(({ indicator, variables }) =>
    fc
      .record({
        pattern: patternArbitrary,
        threshold: thresholdArbitrary,
        window: windowArbitrary,
        severity: fc.constantFrom(...SEVERITIES),
        group_timeseries_notifications: fc.boolean(),
        is_disabled: fc.boolean(),
        mute: fc.boolean(),
        label_filter: labelFilterArbitrary(variables),
        annotations: textMapArbitrary,
        runbook: fc.oneof(fc.constantFrom('', 'https://runbooks.example.com/{{ $labels.x }}'), fc.webUrl()),
      })
      .map(({ pattern, window, ...rest }) => ({
        name,
        indicator: indicator.name,
        ...(pattern && { pattern: { ...pattern, indicator: indicator.name } }),
        ...window,
        description,
        ...rest,
      })),
  );

const unique = <T>(one: fc.Arbitrary<T>, limits: { minLength?: number; maxLength: number }): fc.Arbitrary<T[]> =>
  fc.uniqueArray(one, limits);

const rulesArbitrary = (drafts: readonly IndicatorDraft[]): fc.Arbitrary<AlertRule[]> =>
  drafts.length === 0
    ? fc.constant([])
    : fc
        .tuple(
          unique(nameArbitrary, { maxLength: 5 }),
          unique(textArbitrary, { minLength: 5, maxLength: 5 }),
          fc.boolean(),
        )
        .chain(([names, descriptions, described]) =>
          fc.tuple(...names.map((name, i) => ruleArbitrary(name, described ? (descriptions[i] ?? '') : '', drafts))),
        );

/** A channel in one of its three forms: a bare name (both severities), an object for both, an object for one. */
const channelArbitrary = (name: string): fc.Arbitrary<ChannelBinding[]> =>
  fc
    .record({
      type: fc.option(fc.constantFrom(...CHANNEL_TYPES), { nil: null }),
      severities: fc.subarray([...SEVERITIES], { minLength: 1 }),
      mention: unique(nameArbitrary, { maxLength: 2 }),
    })
    .map(({ type, severities, mention }) =>
      (type === null ? [...SEVERITIES] : severities).map((severity) => ({
        name,
        type,
        severity,
        mention: type === 'slack' ? mention : [],
      })),
    );

const channelsArbitrary: fc.Arbitrary<ChannelBinding[]> = unique(nameArbitrary, { maxLength: 3 })
  .chain((names) => fc.tuple(...names.map(channelArbitrary)))
  .map((bindings) => bindings.flat());

const adhocFilterArbitrary = (data_source: string): fc.Arbitrary<AdhocFilter | null> =>
  fc.option(
    fc.record({
      data_source: fc.oneof(fc.constant(data_source), nameArbitrary),
      labels: fc
        .uniqueArray(fc.tuple(labelNameArbitrary, matcherTextArbitrary), {
          minLength: 1,
          maxLength: 3,
          selector: ([key]) => key,
        })
        .map((entries) => Object.fromEntries(entries)),
    }),
  );

/** One alert manager with the given `external_ref`; every rule and reference in it is valid. */
export const entityArbitrary = (external_ref: string): fc.Arbitrary<Entity> =>
  fc
    .tuple(unique(nameArbitrary, { maxLength: 4 }), fc.oneof(fc.constant(''), nameArbitrary))
    .chain(([indicatorNames, data_source]) =>
      fc.tuple(fc.tuple(...indicatorNames.map(indicatorArbitrary)), fc.constant(data_source)),
    )
    .chain(([drafts, data_source]) =>
      fc.record({
        name: nameArbitrary,
        type: fc.oneof(fc.constantFrom('service', 'kafka-alerts'), nameArbitrary),
        external_ref: fc.constant(external_ref),
        description: textArbitrary,
        data_source: fc.constant(data_source),
        data_source_id: fc.oneof(fc.constant(''), fc.uuid()),
        entity_class: fc.constant('alert-manager'),
        namespace: textArbitrary,
        workspace: textArbitrary,
        tier: textArbitrary,
        team: fc.oneof(fc.constant('default'), nameArbitrary),
        ui_readonly: fc.boolean(),
        tags: unique(nameArbitrary, { maxLength: 3 }),
        labels: textMapArbitrary,
        links: fc.array(fc.record({ name: nameArbitrary, url: fc.webUrl() }), { maxLength: 2 }),
        adhoc_filter: adhocFilterArbitrary(data_source),
        indicators: fc.constant(drafts.map((draft) => draft.indicator)),
        alert_rules: rulesArbitrary(drafts),
        notification_channels: channelsArbitrary,
      }),
    );

/** A valid model without renames: `parseModel(writeModel(m.entities))` gives it back. */
export const modelArbitrary = (limits: { maxEntities?: number } = {}): fc.Arbitrary<Model> =>
  unique(slugArbitrary, { maxLength: limits.maxEntities ?? 4 })
    .chain((refs) => fc.tuple(...refs.map(entityArbitrary)))
    .map((entities) => ({ entities, moved: [] }));
