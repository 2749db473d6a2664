/** A model that uses every field, as plain data: JSON is YAML, so it can be written as it is. */

export interface ModelData {
  entities: EntityData[];
  moved?: { from: string; to: string }[];
}

export interface EntityData {
  [field: string]: unknown;
  external_ref: string;
  links: { name: string; url: string }[];
  adhoc_filter: { data_source?: string; labels: Record<string, string> };
  indicators: IndicatorData[];
  alert_rules: RuleData[];
  notification_channels: unknown;
}

export interface IndicatorData {
  [field: string]: unknown;
  name: string;
}

export interface RuleData {
  [field: string]: unknown;
  name: string;
}

export const ENTITY = 'round-trip';
export const STATIC_RULE = 'Many errors';
export const PATTERN_RULE = 'Spike of errors';

export function baseModel(): ModelData {
  return {
    entities: [
      {
        name: 'Round trip',
        type: 'service',
        external_ref: ENTITY,
        entity_class: 'alert-manager',
        description: 'Every field once',
        data_source: 'metrics',
        namespace: 'shop',
        workspace: 'production',
        team: 'payments',
        tier: '1',
        ui_readonly: false,
        tags: ['http', 'critical'],
        labels: { region: 'eu', zone: 'a' },
        links: [{ name: 'Dashboard', url: 'https://dashboards.example.com/1' }],
        adhoc_filter: { data_source: 'metrics', labels: { env: 'production' } },
        indicators: [
          {
            name: '5xx Status',
            query: 'sum by (route) (rate(http_requests_total{code=~"5..", service="$service"}[5m]))',
            unit: 'rps',
            description: 'Errors a second',
            data_source: 'metrics',
          },
          { name: 'Requests', query: 'sum(rate(http_requests_total[5m]))' },
        ],
        alert_rules: [
          {
            name: STATIC_RULE,
            indicator: '5xx Status',
            greater_than: 5,
            bad_minutes: 3,
            total_minutes: 10,
            severity: 'breach',
            description: '{{ $value }} errors',
            group_timeseries_notifications: true,
            is_disabled: false,
            mute: false,
            label_filter: { service: 'checkout' },
            annotations: { 'Check logs': 'https://logs.example.com' },
            runbook: { link: 'https://runbooks.example.com/1' },
          },
          {
            name: PATTERN_RULE,
            indicator: 'Requests',
            expression: 'high_spike(2, Requests)',
            bad_minutes: 1,
            total_minutes: 1,
          },
        ],
        notification_channels: [
          { name: 'chat', type: 'Slack', severity: 'breach', mention: ['@oncall'] },
          { name: 'pages', type: 'Pagerduty', severity: 'breach' },
        ],
      },
    ],
  };
}
