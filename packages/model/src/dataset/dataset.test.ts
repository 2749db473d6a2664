import { describe, expect, test } from 'vitest';
import { DATASETS, defaultFields, recogniseDataset } from './dataset.ts';

describe('the catalogue', () => {
  test.each(Object.entries(DATASETS))('%s is consistent', (_name, dataset) => {
    for (const field of [dataset.timestamp_field, ...(dataset.other_timestamp_fields ?? [])]) {
      expect(Object.keys(dataset.fields)).toContain(field);
    }
    if (dataset.id_field) expect(Object.keys(dataset.fields)).toContain(dataset.id_field);
    expect(defaultFields(dataset).length).toBeGreaterThan(0);
  });
});

describe('recognition', () => {
  test.each(Object.entries(DATASETS))('a full record of %s', (name, dataset) => {
    expect(recogniseDataset(Object.keys(dataset.fields))).toBe(name);
  });
  test('a few fields are enough', () => {
    expect(
      recogniseDataset(['ClientIP', 'ClientRequestHost', 'EdgeResponseStatus', 'EdgeStartTimestamp', 'RayID']),
    ).toBe('http_requests');
    expect(recogniseDataset(['QueryName', 'QueryType', 'ResponseCode', 'Timestamp', 'ColoCode'])).toBe('dns_logs');
    expect(recogniseDataset(['ScriptName', 'Outcome', 'Logs', 'EventTimestampMs'])).toBe('workers_trace_events');
    expect(recogniseDataset(['Action', 'ClientIP', 'Datetime', 'RayID', 'RuleID', 'Source'])).toBe('firewall_events');
  });
  test('names of 2023 are known', () => {
    expect(recogniseDataset(['EdgeStartTimestamp', 'WAFAction', 'WAFRuleID', 'FirewallMatchesActions'])).toBe(
      'http_requests',
    );
  });
  test('what nobody knows is nothing', () => {
    expect(recogniseDataset(['foo', 'bar'])).toBeUndefined();
    expect(recogniseDataset([])).toBeUndefined();
  });
});
