/** Canonical YAML: what it looks like, and that every text survives. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { textArbitrary } from '../../test/arbitrary.ts';
import { parseModel } from '../parse/parse-model.ts';
import { writeInline, writeScalar } from './scalar.ts';
import { writeModel } from './write-model.ts';

const FULL = `entities:
  - name: Checkout
    type: service_alert_manager
    external_ref: checkout
    description: |-
      Two lines
        of text
    data_source: prod
    data_source_id: ds-1
    namespace: shop
    workspace: main
    team: payments
    tier: '1'
    tags:
      - a
      - 'yes'
    labels:
      region: eu-west-1
      'null': x
    links:
      - name: Dashboard
        url: https://example.com/d/1
    ui_readonly: true
    adhoc_filter:
      data_source: other
      labels:
        cluster: prod
    indicators:
      - name: 5xx Status
        description: Errors
        data_source: other
        unit: rpm
        query: sum by (pod) (rate(requests_total{code=~"5..", service="$service"}[5m]))
    alert_rules:
      - name: Too many
        description: '{{ $labels.pod }} fails'
        indicator: 5xx Status
        greater_than: 5
        bad_minutes: 5
        total_minutes: 10
        severity: threat
        group_timeseries_notifications: false
        is_disabled: true
        mute: true
        label_filter:
          service: a|b
        annotations:
          Check APM: https://apm.example.com
        runbook:
          link: https://runbooks.example.com
      - name: Spike
        indicator: 5xx Status
        expression: high_spike(2.5, 5xx Status)
        bad_minutes: 1
        total_minutes: 1
        severity: breach
        label_filter:
          service: c
    notification_channels:
      - everyone
      - name: chat
        type: Slack
        severity: threat
        mention:
          - '@a'
          - '@b'
      - name: pager
        type: Pagerduty
      - name: genie
        type: OpsGenie
        severity: breach
`;

describe('writeModel', () => {
  test('writes fields in order and leaves defaults out', () => {
    const { model, diagnostics } = parseModel([{ file: 'm.yaml', text: FULL }]);
    expect(diagnostics.map(({ code }) => code)).toEqual(['entity/data-source']);
    expect(writeModel(model?.entities ?? [])).toBe(FULL);
    expect(writeModel([])).toBe('entities: []\n');
  });

  test('refuses what no YAML says', () => {
    const { model } = parseModel([{ file: 'm.yaml', text: FULL }]);
    const [entity] = model?.entities ?? [];
    const binding = { name: 'mail', type: null, severity: 'threat', mention: [] } as const;
    expect(() => writeModel([{ ...entity!, notification_channels: [binding] }])).toThrow(RangeError);
  });
});

describe('scalars', () => {
  const anyText = fc.oneof(
    textArbitrary,
    fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => text.isWellFormed()),
  );

  test.each(['.', '+.', '-.', '._', '.e', 'E0', '-e+5', '1_0', '0o7', '~', '=', 'NaN', '.NaN', '12:30'])(
    '%s stays a text',
    (text) => {
      for (const version of ['1.2', '1.1'] as const) {
        expect(parse(`${writeInline(text)}: ${writeScalar(text, 2)}\n`, { version })).toEqual({ [text]: text });
      }
    },
  );

  test('every text reads back, as value, item, key and in both versions of YAML', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 6 }), (text, indent) => {
        // The key beside it in the document below.
        fc.pre(text !== 'z');
        const margin = ' '.repeat(indent);
        const document = `a:\n${margin}${writeInline(text)}: ${writeScalar(text, indent + 2)}\n${margin}z: 1\nb:\n  - ${writeScalar(text, 4)}\n`;
        for (const version of ['1.2', '1.1'] as const) {
          const value = parse(document, { version, maxAliasCount: 0 });
          expect(Object.keys(value.a).toSorted()).toEqual([text, 'z'].toSorted());
          expect(value.a[text]).toBe(text);
          expect(value.b).toEqual([text]);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['plain words', 'plain words'],
    ['sum(rate(x{a="b"}[5m]))', 'sum(rate(x{a="b"}[5m]))'],
    ["it's", "it's"],
    ["'x'", `"'x'"`],
    ['- x', "'- x'"],
    ['a: b', "'a: b'"],
    ['a #b', "'a #b'"],
    ['true', "'true'"],
    ['12:30', "'12:30'"],
    ['2026-01-01', "'2026-01-01'"],
    ['', "''"],
    ['\u0007', '"\\u0007"'],
    ['{{ $value }}', "'{{ $value }}'"],
  ])('%j is written %s', (text, written) => {
    expect(writeInline(text)).toBe(written);
  });
});
