/** Reading models: what YAML can say, defaults, and files that cannot be read. */
import { describe, expect, test } from 'vitest';
import { MODEL_OF_WARNINGS, unreadableModels } from '../../test/unreadable.ts';
import type { Entity } from '../model.ts';
import { parseModel } from './parse-model.ts';

const HEAD = 'entities:\n  - name: Checkout\n    type: service\n    external_ref: checkout\n';

function entitiesOf(text: string): readonly Entity[] {
  const { model, diagnostics } = parseModel([{ file: 'model.yaml', text }]);
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return model?.entities ?? [];
}

const entityOf = (text: string) => entitiesOf(text)[0]!;

describe('parseModel', () => {
  test('fills in the defaults', () => {
    const indicators = '    indicators:\n      - {name: Errors, query: "sum by (a) (rate(errors_total[5m]))"}\n';
    const rule =
      '    alert_rules:\n      - {name: R, indicator: Errors, less_than: 1, bad_minutes: 1, total_minutes: 2}\n';
    expect(entityOf(HEAD + indicators + rule)).toMatchObject({
      description: '',
      data_source: '',
      data_source_id: '',
      entity_class: 'alert-manager',
      namespace: '',
      workspace: '',
      tier: '',
      team: 'default',
      ui_readonly: false,
      tags: [],
      labels: {},
      links: [],
      adhoc_filter: null,
      notification_channels: [],
      indicators: [{ unit: 'count', description: '', data_source: '' }],
      alert_rules: [
        {
          threshold: { operator: 'less_than', value: 1 },
          severity: 'breach',
          description: '',
          group_timeseries_notifications: true,
          is_disabled: false,
          mute: false,
          label_filter: {},
          annotations: {},
          runbook: '',
        },
      ],
    });
  });

  test('the source of an object is its name', () => {
    const text = `${HEAD}    indicators:\n      - query: up\n        name: Errors\n    notification_channels: [oncall]\n`;
    const entity = entityOf(text);
    expect(entity.source).toEqual({ file: 'model.yaml', line: 2, column: 11, endLine: 2, endColumn: 19 });
    expect(entity.indicators[0]?.source).toMatchObject({ line: 7, column: 15, endColumn: 21 });
    expect(entity.notification_channels[0]?.source).toMatchObject({ line: 8, column: 29, endColumn: 35 });
  });

  test('anchors, aliases and merge keys work, across items too', () => {
    const text = `x-defaults: &defaults {bad_minutes: 5, total_minutes: 10, severity: threat}
entities:
  - name: A
    type: service
    external_ref: a
    labels: &labels {team: payments, tier: gold}
    indicators: &indicators
      - &up {name: Up, query: 'sum by (a) (rate(up[5m]))'}
    alert_rules:
      - {<<: *defaults, name: One, indicator: Up, greater_than: 1}
      - <<: *defaults
        name: Two
        indicator: Up
        severity: breach
        less_than: 1
  - name: B
    type: service
    external_ref: b
    labels: {<<: [*labels, {tier: silver, zone: x}], team: search}
    indicators: *indicators
`;
    const [a, b] = entitiesOf(text);
    expect(a?.alert_rules.map(({ severity, total_minutes }) => [severity, total_minutes])).toEqual([
      ['threat', 10],
      ['breach', 10],
    ]);
    expect(b?.labels).toEqual({ team: 'search', tier: 'gold', zone: 'x' });
    expect(b?.indicators[0]?.query).toBe('sum by (a) (rate(up[5m]))');
    expect(b?.indicators[0]?.source).toMatchObject({ line: 8 });
  });

  test('an anchor that is defined again counts from there on', () => {
    const text = `${HEAD}    tier: &x gold\n    team: *x\n  - name: B\n    type: *x\n    external_ref: &x b\n    namespace: *x\n`;
    expect(entitiesOf(text)[1]).toMatchObject({ type: 'gold', namespace: 'b' });
  });

  test('many aliases of one anchor are no bomb', () => {
    const rules = Array.from(
      { length: 3000 },
      (_, i) => `      - {<<: *rule, name: R${i}, annotations: *notes}\n`,
    ).join('');
    const text = `x-rule: &rule {indicator: Up, greater_than: 1, bad_minutes: 6, total_minutes: 10}\nx-notes: &notes {a: b, c: d}\n${HEAD}    indicators: [{name: Up, query: up}]\n    alert_rules:\n${rules}`;
    expect(entityOf(text).alert_rules).toHaveLength(3000);
  });

  test('labels, annotations and tags take numbers and booleans as they are written', () => {
    const text = `${HEAD}    labels: {version: 1.10, build: 007, on: yes, off: true, 404: x, 1.0: y}\n    tags: [1.50, 0x1F, false]\n`;
    expect(entityOf(text)).toMatchObject({
      labels: { version: '1.10', build: '007', on: 'yes', off: 'true', 404: 'x', '1.0': 'y' },
      tags: ['1.50', '0x1F', 'false'],
    });
  });

  test('an optional field without value counts as absent', () => {
    const text = `${HEAD}    tags:\n    indicators:\n    alert_rules:\n    adhoc_filter:\n    description: ~\n    notification_channels:\nmoved:\n`;
    expect(entityOf(text)).toMatchObject({ tags: [], indicators: [], alert_rules: [], adhoc_filter: null });
  });

  test('channels: a name, names and objects of any case', () => {
    const both = (name: string, type: string | null, mention: string[] = []) =>
      ['breach', 'threat'].map((severity) => expect.objectContaining({ name, type, severity, mention }));
    expect(entityOf(`${HEAD}    notification_channels: oncall\n`).notification_channels).toEqual(both('oncall', null));
    const text = `${HEAD}    notification_channels:\n      - a\n      - {name: b, type: OPSGENIE}\n      - {name: c, type: slack, severity: threat, mention: "@x"}\n      - {name: d, type: Slack, mention: ["@x", "@y"]}\n`;
    expect(entityOf(text).notification_channels).toEqual([
      ...both('a', null),
      ...both('b', 'opsgenie'),
      expect.objectContaining({ name: 'c', type: 'slack', severity: 'threat', mention: ['@x'] }),
      ...both('d', 'slack', ['@x', '@y']),
    ]);
  });

  test('pattern rules: threshold implied or given, awkward names, expression that repeats the indicator', () => {
    const name = 'p99 (a, b)';
    const rule = (i: number, rest: string) =>
      `      - {name: R${i}, indicator: "${name}", bad_minutes: 1, total_minutes: 1, ${rest}}\n`;
    const text = `${HEAD}    indicators: [{name: "${name}", query: "sum by (a) (rate(x[5m]))"}]\n    alert_rules:\n${[
      rule(1, `expression: "high_spike(2.5, ${name})"`),
      rule(2, `expression: " increasing_trend ( 1e0 ,${name} ) ", less_than: 3`),
      rule(3, `expression: "${name}", greater_than_eq: -0.0`),
      rule(4, 'expression: "", not_equal: 1e3'),
    ].join('')}`;
    expect(entityOf(text).alert_rules).toMatchObject([
      {
        pattern: { macro: 'high_spike', tolerance: 2.5, indicator: name },
        threshold: { operator: 'greater_than', value: 0 },
      },
      {
        pattern: { macro: 'increasing_trend', tolerance: 1, indicator: name },
        threshold: { operator: 'less_than', value: 3 },
      },
      { threshold: { operator: 'greater_than_eq', value: 0 } },
      { threshold: { operator: 'not_equal', value: 1000 } },
    ]);
    const { alert_rules } = entityOf(text);
    expect(alert_rules.map(({ pattern }) => pattern !== undefined)).toEqual([true, true, false, false]);
  });

  test('adhoc_filter takes the data source of the alert manager; without labels it is none', () => {
    const filter = (labels: string) =>
      entityOf(`${HEAD}    data_source: prod\n    adhoc_filter: {labels: ${labels}}\n`).adhoc_filter;
    expect(filter('{zone: 1}')).toEqual({ data_source: 'prod', labels: { zone: '1' } });
    expect(filter('{}')).toBeNull();
  });

  test('moved entries, with the alert manager under its old or new name', () => {
    const text = `${HEAD}    indicators: [{name: a/b, query: up}]\nmoved:\n  - {from: old, to: checkout}\n  - {from: old/indicators/a, to: checkout/indicators/a/b}\n`;
    const { model, diagnostics } = parseModel([{ file: 'model.yaml', text }]);
    expect(diagnostics).toEqual([]);
    expect(model?.moved).toMatchObject([
      { from: 'old', to: 'checkout', source: { line: 7 } },
      { from: 'old/indicators/a', to: 'checkout/indicators/a/b' },
    ]);
  });

  test('several files are one model, in their order', () => {
    const other = HEAD.replaceAll('heckout', 'atalog');
    const { model } = parseModel([
      { file: 'a.yaml', text: Buffer.from(HEAD) },
      { file: 'b.yaml', text: `\ufeff${other}` },
    ]);
    expect(model?.entities.map(({ external_ref, source }) => [external_ref, source?.file])).toEqual([
      ['checkout', 'a.yaml'],
      ['catalog', 'b.yaml'],
    ]);
    expect(parseModel([]).model).toEqual({ entities: [], moved: [] });
  });

  test.each([
    ['flow style', '{entities: [{name: A, type: service, external_ref: a}]}'],
    ['JSON', '{"entities": [{"name": "A", "type": "service", "external_ref": "a"}]}'],
    ['items at the margin', 'entities:\n- name: A\n  type: service\n  external_ref: a\n'],
    [
      'a document start',
      '# comment\n---\nentities: # here\n\n  # and here\n  - name: A\n    type: service\n    external_ref: a\n',
    ],
    ['quoted key', '"entities":\n  - {name: A, type: service, external_ref: a}\n'],
    ['a directive', '%YAML 1.2\n---\nentities:\n  - {name: A, type: service, external_ref: a}\n...\n'],
    ['an anchored list', 'entities: &all\n  - {name: A, type: service, external_ref: a}\n'],
    ['keys after the list', 'entities:\n  - {name: A, type: service, external_ref: a}\nx-b: [1]\nmoved: []\n'],
  ])('unusual layout: %s', (_, text) => {
    expect(entitiesOf(text)).toMatchObject([{ name: 'A', external_ref: 'a' }]);
  });

  test.each(unreadableModels())('$name', ({ code, text }) => {
    const { model, diagnostics } = parseModel([{ file: 'model.yaml', text }]);
    expect(model).toBeNull();
    expect(diagnostics.at(-1)?.code).toBe(code);
    expect(diagnostics.length).toBeLessThanOrEqual(1001);
  });

  test('a model is valid however many warnings it has', () => {
    const { model, diagnostics } = parseModel([{ file: 'model.yaml', text: MODEL_OF_WARNINGS }]);
    expect(model?.entities.length).toBe(2000);
    expect(diagnostics.length).toBe(1001);
    expect(diagnostics.at(-1)?.code).toBe('model/too-many-warnings');
  });

  test('an error after many warnings is found', () => {
    const { model, diagnostics } = parseModel([{ file: 'model.yaml', text: `${MODEL_OF_WARNINGS}    colour: red\n` }]);
    expect(model).toBeNull();
    expect(diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual([
      'field/unknown',
    ]);
  });
});
