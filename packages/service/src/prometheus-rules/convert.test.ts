import { parseModel } from '@obsiac/model';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Refusal } from '../refusal.ts';
import { convertRules } from './convert.ts';

const convert = (rules: string) =>
  parse(convertRules(`groups:\n- name: Node Exporter\n  rules:\n${rules.replace(/^/gm, '  ')}`)).entities[0];

const comments = (yaml: string) => yaml.split('\n').filter((line) => line.startsWith('#'));

describe('conversion of Prometheus rules', () => {
  it('makes an entity of a group, an indicator and a rule of an alert', () => {
    const entity = convert(`- alert: HighLoad
  expr: avg by (instance) (node_load1) > 5
  for: 10m
  labels: { severity: warning }
  annotations:
    summary: 'Load on {{ $labels.instance }}'
    description: 'It is {{ $value }}'
    runbook_url: https://runbooks/load
`);
    expect(entity).toEqual({
      name: 'Node Exporter',
      type: 'alert-manager',
      entity_class: 'alert-manager',
      external_ref: 'node-exporter-alert-manager-alert-manager',
      indicators: [
        {
          name: 'EXPR: HighLoad - warning',
          query: 'group without () (avg by (instance) (node_load1) > 5)',
          unit: 'count',
        },
      ],
      alert_rules: [
        {
          name: 'HighLoad',
          indicator: 'EXPR: HighLoad - warning',
          greater_than: 0,
          bad_minutes: 10,
          total_minutes: 10,
          severity: 'threat',
          description: 'It is {{ $value }}',
          runbook: { link: 'https://runbooks/load' },
          annotations: { summary: 'Load on {{ $labels.instance }}' },
        },
      ],
    });
  });

  it.each([
    ['', 1],
    ['for: 0s', 1],
    ['for: 0', 1],
    ['for: 30s', 1],
    ['for: 90s', 2],
    ['for: 1h30m', 90],
    ['for: 3d', 1440],
    ['for: soon', 1],
  ])('%j becomes %d minutes', (line, minutes) => {
    const [rule] = convert(`- alert: A\n  expr: up == 0\n  ${line}\n`).alert_rules;
    expect(rule).toMatchObject({ bad_minutes: minutes, total_minutes: minutes });
  });

  it.each([
    ['critical', 'breach'],
    ['page', 'breach'],
    ['Warning', 'threat'],
    ['info', 'threat'],
  ])('severity %s is a %s', (label, severity) => {
    const entity = convert(`- alert: A\n  expr: up == 0\n  labels: {severity: ${label}}\n`);
    expect(entity.alert_rules[0].severity).toBe(severity);
    expect(entity.indicators[0].name).toBe(`EXPR: A - ${label}`);
  });

  it('keeps names and descriptions unique', () => {
    const alert = '- alert: A\n  expr: up == 0\n  annotations: {description: same}\n';
    const entity = convert(alert + alert);
    expect(entity.indicators.map((each: { name: string }) => each.name)).toEqual([
      'EXPR: A - breach',
      'EXPR: A - breach (2)',
    ]);
    expect(entity.alert_rules[0]).toMatchObject({ name: 'A', description: 'same' });
    expect(entity.alert_rules[1]).toMatchObject({ name: 'A (2)', annotations: { description: 'same' } });
    expect(entity.alert_rules[1]).not.toHaveProperty('description');
    const groups = '- {name: x, rules: [{alert: A, expr: up}]}\n'.repeat(2);
    const [first, second] = parse(convertRules(`groups:\n${groups}`)).entities;
    expect([first.external_ref, second.external_ref]).toEqual([
      'x-alert-manager-alert-manager',
      'x-alert-manager-alert-manager-2',
    ]);
  });

  it('survives a comment at the end of an expression, and leaves a scalar and what it cannot read alone', () => {
    const entity = convert(
      '- alert: A\n  expr: "up == 0 # down"\n- alert: B\n  expr: "1"\n- alert: C\n  expr: "up =="\n',
    );
    expect(entity.indicators.map((each: { query: string }) => each.query)).toEqual([
      'group without () (up == 0 # down\n)',
      '1',
      'up ==',
    ]);
  });

  it('says what it left out, in comments that no name can break out of', () => {
    const yaml = convertRules(`groups:
- name: r
  rules: [{record: a, expr: b}]
- name: g
  rules:
  - {alert: "two\\nlines: [", expr: up, keep_firing_for: 5m, labels: {team: a, severity: page}}
`);
    expect(comments(yaml)).toEqual(
      expect.arrayContaining([
        '# Group "r": 1 recording rule(s) left out.',
        '# Alert "two lines: [": labels left out: team.',
        '# Alert "two lines: [": keep_firing_for left out.',
      ]),
    );
    expect(parse(yaml).entities).toHaveLength(1);
  });

  it('makes a model that the tool takes as it is', () => {
    const yaml = convertRules(`groups:
- name: "Räder & Söhne / 1"
  rules:
  - {alert: A, expr: 'up == 0', for: 5m, labels: {severity: page}, annotations: {summary: s, description: d}}
  - {alert: A, expr: 'absent(up) # none', annotations: {description: d, runbook_url: 'https://r'}}
  - {alert: "B: {{ x }}", expr: 'sum by (job) (rate(errors[5m])) / 2 > 0.05'}
- name: "Räder & Söhne / 1"
  rules: [{alert: A, expr: up}]
`);
    const { model, diagnostics } = parseModel([{ file: 'converted.yaml', text: yaml }]);
    expect(diagnostics.filter((diagnostic) => diagnostic.severity === 'error')).toEqual([]);
    expect(model?.entities.map((entity) => entity.alert_rules.length)).toEqual([3, 1]);
  });

  it('refuses an alias bomb', () => {
    const levels = Array.from({ length: 12 }, (_, index) => {
      const inner = index === 0 ? '"x"' : `*a${index - 1}`;
      return `a${index}: &a${index} [${Array(9).fill(inner).join(', ')}]`;
    });
    expect(() => convertRules(`${levels.join('\n')}\ngroups: *a11\n`)).toThrow(Refusal);
  });
});
