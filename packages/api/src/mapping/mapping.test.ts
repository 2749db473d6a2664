import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entityArbitrary } from '../../../model/test/arbitrary.ts';
import { alertRuleDocument } from '../alert-rules.ts';
import { read, readAlertRule, readChannelRow, readEntity, readKpi } from '../client/answers.ts';
import { entityDocument, metadataDocument } from '../entities.ts';
import { kpiDocument } from '../kpis.ts';
import { attachRequest } from '../notification-settings.ts';
import {
  alertRuleFromWire,
  alertRuleToWire,
  bindingFromWire,
  bindingToWire,
  entityFromWire,
  entityToWire,
  formatAlertCondition,
  formatCondition,
  formatExpression,
  indicatorFromWire,
  indicatorToWire,
  isAttachment,
  metadataToWire,
  parseAlertCondition,
  parseCondition,
  parseExpression,
  plainNumber,
} from './index.ts';

/** As it arrives at the other end. */
const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const entities = entityArbitrary('checkout');

describe('model to wire and back', () => {
  it('keeps every field of an entity', () => {
    fc.assert(
      fc.property(entities, ({ indicators: _1, alert_rules: _2, notification_channels: _3, ...fields }) => {
        const entity = entityDocument.parse(overTheWire(entityToWire(fields)));
        const metadata = metadataDocument.parse(overTheWire(metadataToWire(fields)));
        const answer = { id: 'e1', ...entity, metadata: { id: 'm1', entity_id: 'e1', ...metadata } };
        expect(entityFromWire(read(readEntity, answer))).toEqual(fields);
      }),
    );
  });

  it('keeps every field of an indicator', () => {
    fc.assert(
      fc.property(entities, ({ indicators }) => {
        for (const indicator of indicators) {
          const kpi = { id: 'k1', ...kpiDocument.parse(overTheWire(indicatorToWire(indicator))) };
          expect(indicatorFromWire(read(readKpi, kpi))).toEqual(indicator);
        }
      }),
    );
  });

  it('keeps every field of an alert rule', () => {
    fc.assert(
      fc.property(entities, ({ alert_rules }) => {
        for (const rule of alert_rules) {
          const document = alertRuleDocument.parse(overTheWire(alertRuleToWire(rule, () => 'k1')));
          expect(alertRuleFromWire(read(readAlertRule, { id: 'r1', ...document }))).toEqual(rule);
        }
      }),
    );
  });

  it('keeps every field of a channel binding', () => {
    fc.assert(
      fc.property(entities, ({ notification_channels }) => {
        for (const binding of notification_channels.filter((each) => each.type !== null)) {
          const attached = attachRequest.parse(overTheWire(bindingToWire(binding, 'e1')));
          const row = { id: 7, name: binding.name, type: binding.type, service_fqid: attached.entity_id, ...attached };
          const answer = read(readChannelRow, row);
          expect(isAttachment(answer)).toBe(true);
          expect(bindingFromWire(answer, binding.name)).toEqual(binding);
        }
      }),
    );
  });
});

describe('condition', () => {
  it('writes six decimals, and the shortest exact text where they do not suffice', () => {
    expect(formatCondition({ operator: 'greater_than', value: 100 })).toBe('expr > 100.000000');
    expect(formatCondition({ operator: 'less_than_eq', value: -0.5 })).toBe('expr <= -0.500000');
    expect(formatCondition({ operator: 'not_equal', value: 1e-7 })).toBe('expr != 1e-7');
    expect(formatCondition({ operator: 'equal_to', value: 1 / 3 })).toBe('expr == 0.3333333333333333');
    expect(formatCondition({ operator: 'greater_than_eq', value: 1e300 })).toBe('expr >= 1e+300');
  });

  it('gives back every finite number exactly', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        const threshold = { operator: 'less_than', value } as const;
        expect(parseCondition(formatCondition(threshold))).toEqual(threshold);
      }),
    );
  });

  it.each([
    ['expr>100', 'greater_than', 100],
    ['  EXPR  >=  1e3 ', 'greater_than_eq', 1000],
    ['result < .5', 'less_than', 0.5],
    ['(expr == 5.)', 'equal_to', 5],
    ['expr = 5', 'equal_to', 5],
    ['expr <> -1', 'not_equal', -1],
    ['expr < +Inf', 'less_than', Infinity],
  ])('reads %s', (text, operator, value) => {
    expect(parseCondition(text)).toEqual({ operator, value });
  });

  it.each(['', 'expr', 'expr > ', 'expr > 5 and expr < 7', 'foo > 5', 'expr > 0x10', 'expr > 1,5'])(
    'does not guess at %j',
    (text) => {
      expect(parseCondition(text)).toBeNull();
    },
  );

  it('reads bad minutes leniently', () => {
    expect(parseAlertCondition(formatAlertCondition(5))).toBe(5);
    expect(parseAlertCondition(' count_true( result )>=5.0 ')).toBe(5);
    expect(parseAlertCondition('count_true(result) > 4')).toBe(5);
    expect(parseAlertCondition('count_false(result) >= 4')).toBeNull();
    expect(parseAlertCondition('count_true(result) >= 4.5')).toBeNull();
  });
});

describe('expression', () => {
  it('keeps apart a pattern and an indicator whose name reads like one', () => {
    const pattern = { macro: 'high_spike', tolerance: 2, indicator: 'x' } as const;
    const indicator = 'high_spike(2, x)';
    const text = formatExpression({ indicator, pattern });
    expect(text).not.toBe(indicator);
    expect(parseExpression(text, indicator)).toEqual(pattern);
    expect(parseExpression(formatExpression({ indicator }), indicator)).toBeUndefined();
  });

  it('writes a tolerance without an exponent, exactly', () => {
    expect(
      formatExpression({ indicator: 'x', pattern: { macro: 'low_spike', tolerance: 1.5e-7, indicator: 'x' } }),
    ).toBe('low_spike(0.00000015, x)');
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = plainNumber(value);
        expect(text).toMatch(/^-?\d+(\.\d+)?$/);
        expect(Number(text) + 0).toBe(value + 0);
      }),
    );
  });

  it('reads names with commas and brackets, and uneven white space', () => {
    expect(parseExpression('low_spike( 0.5 ,p99, latency (ms))', 'p99, latency (ms)')).toEqual({
      macro: 'low_spike',
      tolerance: 0.5,
      indicator: 'p99, latency (ms)',
    });
    expect(parseExpression('low_spike(, a)', 'a')).toBeUndefined();
    expect(parseExpression('anomaly(1, a)', 'a')).toBeUndefined();
  });
});

describe('what a model does not declare', () => {
  const rule = {
    name: 'r',
    indicator: 'i',
    threshold: { operator: 'greater_than', value: 1 },
    bad_minutes: 1,
    total_minutes: 1,
    severity: 'breach',
    description: '',
    group_timeseries_notifications: true,
    is_disabled: false,
    mute: false,
    label_filter: {},
    annotations: {},
    runbook: '',
  } as const;
  const schedule = { enabled: true, timezone: 'UTC', windows: [] };
  const held = read(readAlertRule, {
    ...(overTheWire(alertRuleToWire(rule, () => 'k')) as object),
    id: 'r1',
    mute_until: 1_900_000_000,
    recurring_mute_schedule: schedule,
  });

  it('is no difference: a snooze until a time is not mute', () => {
    expect(alertRuleFromWire(held)).toEqual(rule);
  });

  it('is carried over by an update', () => {
    const document = alertRuleToWire({ ...rule, bad_minutes: 1 }, () => 'k', held);
    expect(document).toMatchObject({ mute_until: 1_900_000_000, recurring_mute_schedule: schedule });
  });

  it('gives way to mute, and an end of mute leaves nothing of it', () => {
    expect(alertRuleToWire({ ...rule, mute: true }, () => 'k', held).mute_until).toBe(-1);
    expect(alertRuleToWire(rule, () => 'k', { ...held, mute_until: -1 }).mute_until).toBe(0);
  });

  it('of the metadata is carried over too', () => {
    const entity = entityFromWire(read(readEntity, { id: 'e', name: 'n' }));
    const renotify = { renotify_enabled: false, renotify_interval_seconds: 60, renotify_occurrences: -1 };
    expect(metadataToWire(entity, renotify)).toMatchObject(renotify);
    expect(Object.keys(metadataToWire(entity))).not.toContain('renotify_enabled');
  });
});

describe('what the hosted service leaves out', () => {
  it('gets its default', () => {
    const entity = entityFromWire(
      read(readEntity, { id: 'e', name: 'n', metadata: { adhoc_filter: { data_source: '', labels: null } } }),
    );
    expect(entity).toMatchObject({
      team: 'default',
      description: '',
      adhoc_filter: null,
      tags: [],
      labels: {},
      links: [],
    });
    expect(indicatorFromWire(read(readKpi, { id: 'k', name: 'n', definition: { query: 'up' } })).unit).toBe('count');
    const rule = alertRuleFromWire(
      read(readAlertRule, { id: 'r', rule_name: 'n', expression: 'x', condition: 'expr > 1' }),
    );
    expect(rule).toMatchObject({
      indicator: 'x',
      severity: 'breach',
      group_timeseries_notifications: true,
      mute: false,
    });
  });
});
