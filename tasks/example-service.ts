/** What the examples expect of a service and may not declare themselves: channels (they hold secrets) and data sources. */
import { readFileSync } from 'node:fs';

interface ConfigFile {
  readonly api_config: Record<'read' | 'write', { refresh_token: string; api_base_url: string; org: string }>;
}

/** Destinations are placeholders under example domains: replace them to hear from the rules. */
const channels = [
  { name: 'payments-alerts', type: 'slack', destination: 'https://hooks.slack.example.com/services/payments' },
  { name: 'payments-pager', type: 'pagerduty', destination: 'example-routing-key-for-payments-00' },
  { name: 'streaming-alerts', type: 'slack', destination: 'https://hooks.slack.example.com/services/streaming' },
  { name: 'edge-opsgenie', type: 'opsgenie', destination: 'example-api-key-for-edge' },
];

const dataSources = [{ name: 'logs', url: '', properties: { flavour: 'logs' } }];

/** Creates what is missing; what is there stays as it is. Throws with the service's sentence when it refuses. */
export async function prepareExampleService(configFile: string): Promise<void> {
  const { read, write } = (JSON.parse(readFileSync(configFile, 'utf8')) as ConfigFile).api_config;
  const root = `${read.api_base_url}/organizations/${read.org}`;
  const access = await call<{ access_token: string }>(`${write.api_base_url}/oauth/access_token`, undefined, {
    refresh_token: write.refresh_token,
  });
  const token = access.access_token;
  await createMissing(`${root}/notification_settings`, token, channels);
  await createMissing(`${root}/datasources`, token, dataSources);
}

async function createMissing(url: string, token: string, wanted: readonly { name: string }[]): Promise<void> {
  const existing = await call<readonly { name: string }[]>(url, token);
  const names = new Set(existing.map((item) => item.name));
  for (const item of wanted) if (!names.has(item.name)) await call(url, token, item);
}

async function call<Answer>(url: string, token?: string, body?: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', ...(token && { 'X-LAST9-API-TOKEN': `Bearer ${token}` }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${new URL(url).pathname}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}
