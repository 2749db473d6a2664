/** A model for tests: alert managers with indicators, rules of every kind, and channels. */
import type { AlertRule, ChannelBinding, Entity, Indicator } from '@obsiac/model';

export function indicator(name: string, more: Partial<Indicator> = {}): Indicator {
  return { name, query: `sum(rate(${name}_total[5m]))`, unit: 'count', description: '', data_source: '', ...more };
}

export function rule(name: string, of: string, more: Partial<AlertRule> = {}): AlertRule {
  return {
    name,
    indicator: of,
    threshold: { operator: 'greater_than', value: 5 },
    bad_minutes: 3,
    total_minutes: 10,
    severity: 'breach',
    description: '',
    group_timeseries_notifications: true,
    is_disabled: false,
    mute: false,
    label_filter: {},
    annotations: {},
    runbook: '',
    ...more,
  };
}

export function channel(
  name: string,
  severity: 'breach' | 'threat' = 'breach',
  more: Partial<ChannelBinding> = {},
): ChannelBinding {
  return { name, type: null, severity, mention: [], ...more };
}

export function entity(external_ref: string, more: Partial<Entity> = {}): Entity {
  return {
    name: `The ${external_ref}`,
    type: 'service',
    external_ref,
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
    indicators: [],
    alert_rules: [],
    notification_channels: [],
    ...more,
  };
}

/** An alert manager with two indicators, three rules (static, pattern, with variables) and two channels: eight objects. */
export function typicalEntity(external_ref: string): Entity {
  return entity(external_ref, {
    team: 'payments',
    tags: ['http', 'prod'],
    labels: { tier: '1' },
    indicators: [indicator('errors'), indicator('latency', { query: 'max(latency{service="$service"})', unit: 'ms' })],
    alert_rules: [
      rule('Errors', 'errors', { runbook: 'https://runbooks.example.com/errors' }),
      rule('Error spike', 'errors', {
        pattern: { macro: 'high_spike', tolerance: 2, indicator: 'errors' },
        threshold: { operator: 'greater_than', value: 0 },
      }),
      rule('Latency', 'latency', { severity: 'threat', label_filter: { service: 'cart' }, annotations: { a: 'b' } }),
    ],
    notification_channels: [channel('ops alerts', 'breach', { type: 'slack', mention: ['@ops'] }), channel('on call')],
  });
}
