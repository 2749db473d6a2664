/**
 * The calls that known clients of the hosted service make, in their order and with their headers, against this one:
 * a Terraform provider old and new, which judges an answer by `status >= 400` and by the fields it reads.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../../test/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** One resource client: exchanges its refresh token once, sends JSON headers with everything. */
async function client(refreshToken: string) {
  const exchange = await fetch(`${service.origin}/api/v4/oauth/access_token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ refresh_token: refreshToken }),
  });
  const { access_token, expires_at } = (await exchange.json()) as { access_token: string; expires_at: number };
  expect(expires_at).toBeGreaterThan(Date.now() / 1000 + 300);
  return async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${service.origin}${path}`, {
      method,
      headers: { 'X-LAST9-API-TOKEN': `Bearer ${access_token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status >= 400) throw new Error(`API error: ${response.status} - ${text}`);
    // biome-ignore lint/suspicious/noExplicitAny: the client reads fields without a schema
    return JSON.parse(text) as any;
  };
}

it('serves a whole life of an alert group, rule and channel', async () => {
  const org = '/api/v4/organizations/default';
  const write = await client(service.refreshTokens.write);
  const remove = await client(service.refreshTokens.delete);

  const entity = await write('POST', `${org}/entities`, {
    name: 'Notification Backend',
    type: 'service_alert_manager',
    external_ref: 'notification-backend',
    entity_class: 'alert-manager',
    data_source_id: 'some-cluster-id',
    description: 'd',
    ui_readonly: true,
    notification_channels: ['ignored'],
    team: 'ignored here',
    tags: ['ignored here'],
  });
  expect(entity.id).not.toBe('');
  await write('PUT', `${org}/entities/${entity.id}/metadata`, {
    team: 'default',
    tags: ['a'],
    labels: { k: 'v' },
    links: [],
    adhoc_filter: { data_source: 'x', labels: { cluster: 'y' } },
  });

  const kpi = await write('POST', `${org}/entities/${entity.id}/kpis`, {
    name: 'Availability-1a2b3c4d',
    definition: { query: 'sum(up)', source: 'levitate', unit: 'count' },
    kpi_type: 'custom',
  });
  const document = {
    rule_name: 'Availability',
    primary_indicator: kpi.name,
    expression: kpi.name,
    expression_args: { [kpi.name]: { id: kpi.id, variables: {} } },
    condition: 'expr < 95.000000',
    eval_window: 10,
    alert_condition: 'count_true(result) >= 5',
    severity: 'breach',
    is_disabled: false,
    mute_until: 0,
    properties: { description: 'd', runbook: { link: 'https://r' }, annotations: { a: 'b' } },
    group_timeseries_notifications: true,
    notification_channels: [],
  };
  const rule = await write('POST', `${org}/entities/${entity.id}/alert-rules`, document);
  expect(rule).toMatchObject(
    Object.fromEntries(Object.entries(document).filter(([key]) => key !== 'notification_channels')),
  );

  const listed = await write('GET', `${org}/entities?external_ref=notification-backend`);
  expect(listed.entities[0].id).toBe(entity.id);
  const read = await write('GET', `${org}/entities/${entity.id}`);
  expect(read.metadata).toMatchObject({ team: 'default', tags: ['a'], labels: { k: 'v' } });
  const rules = await write('GET', `${org}/entities/${entity.id}/alert-rules`);
  expect(rules.rules.map((each: { id: string }) => each.id)).toEqual([rule.id]);

  const updated = await write('PUT', `${org}/entities/${entity.id}/alert-rules/${rule.id}`, {
    ...document,
    condition: 'expr < 99.500000',
    severity: 'threat',
  });
  expect(updated.id).not.toBe('');
  expect(updated).toMatchObject({ condition: 'expr < 99.500000', severity: 'threat' });
  await write('PUT', `${org}/entities/${entity.id}`, {
    name: 'Notification Backend 2',
    type: 'service_alert_manager',
    data_source_id: 'some-cluster-id',
  });

  const channel = await write('POST', `${org}/notification_settings`, {
    name: 'ops',
    type: 'slack',
    destination: 'https://hooks.slack.com/services/a/b/c',
    send_resolved: true,
    property: { webhook_headers: {} },
  });
  expect(Number.isInteger(channel.id)).toBe(true);
  const attach = (severity: string) =>
    write('POST', `${org}/notification_settings/${channel.id}/attach`, { entity_id: entity.id, severity });
  const binding = await attach('breach');
  expect(binding.service_fqid).toBe(entity.id);
  await attach('threat');
  const rows = await write('GET', `${org}/notification_settings?entity_id=${entity.id}`);
  expect(rows.filter((row: { service_fqid: string }) => row.service_fqid === entity.id)).toHaveLength(2);

  // The newer provider detaches the row with its write token, the older one the channel with its delete token.
  await write('DELETE', `${org}/notification_settings/${binding.id}/attach`);
  await remove('DELETE', `${org}/notification_settings/${channel.id}/attach?entity_id=${entity.id}`);
  await remove('DELETE', `/api/organizations/default/workspace/default/notification_settings/${channel.id}`);
  expect(await write('GET', `${org}/notification_settings`)).toEqual([]);

  await remove('DELETE', `${org}/entities/${entity.id}/alert-rules/${rule.id}`);
  await remove('DELETE', `${org}/entities/${entity.id}/kpis/${kpi.id}`);
  await remove('DELETE', `${org}/entities/${entity.id}`);
  await expect(write('GET', `${org}/entities/${entity.id}`)).rejects.toThrow(/^API error: 404/);
});

it('lets a client roll a KPI back when its rule is refused', async () => {
  const org = '/api/v4/organizations/default';
  const write = await client(service.refreshTokens.write);
  const remove = await client(service.refreshTokens.delete);
  const entity = await write('POST', `${org}/entities`, { name: 'n', type: 't', external_ref: 'rollback' });
  const kpi = await write('POST', `${org}/entities/${entity.id}/kpis`, { name: 'k', definition: { query: 'up' } });
  const rule = {
    rule_name: 'r',
    primary_indicator: 'k',
    condition: 'expr > x',
    eval_window: 1,
    alert_condition: 'count_true(result) >= 1',
  };
  await expect(write('POST', `${org}/entities/${entity.id}/alert-rules`, rule)).rejects.toThrow(
    /^API error: 400 - .*body\.condition/,
  );
  await remove('DELETE', `${org}/entities/${entity.id}/kpis/${kpi.id}`);
  expect(await write('GET', `${org}/entities/${entity.id}/kpis`)).toEqual([]);
});
