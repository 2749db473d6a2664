/** What the examples expect of a service and may not declare themselves: channels (they hold secrets) and data sources. */
import { readFileSync } from 'node:fs';

interface ConfigFile {
  readonly api_config: Record<'read' | 'write', { refresh_token: string; api_base_url: string; org: string }>;
}

/** @param slack address of what stands for Slack here; replace the destinations to hear from the rules */
const channelsOf = (slack: string) => [
  { name: 'payments-alerts', type: 'slack', destination: `${slack}/payments` },
  { name: 'payments-pager', type: 'pagerduty', destination: 'example-routing-key-for-payments-00' },
  { name: 'streaming-alerts', type: 'slack', destination: `${slack}/streaming` },
  { name: 'edge-opsgenie', type: 'opsgenie', destination: 'example-api-key-for-edge' },
];

/** The examples' metrics come from this machine at once, so their minutes need not wait for late ones. */
const EMBEDDED = { name: 'embedded', url: '', properties: { flavour: 'embedded', evaluation_delay_seconds: 5 } };
const LOGS = { name: 'logs', url: '', properties: { flavour: 'logs' } };

interface Existing {
  readonly id: string | number;
  readonly name: string;
  /** Of a channel, masked but for the host. */
  readonly destination?: string;
  /** Of a data source. */
  readonly properties?: { readonly flavour?: string; readonly evaluation_delay_seconds?: number };
}

/** Whether it is as an earlier start left it: what somebody has changed since stays. */
function isOurs({ destination, properties }: Existing): boolean {
  if (destination !== undefined)
    return /^http:\/\/127\.0\.0\.1:|^https:\/\/hooks\.slack\.example\.com\//.test(destination);
  return properties?.flavour === 'embedded' && properties.evaluation_delay_seconds === undefined;
}

/** Creates what is missing, and leads the channels to this start's receivers. Throws with the service's sentence when it refuses. */
export async function prepareExampleService(configFile: string, slack: string): Promise<void> {
  const { read, write } = (JSON.parse(readFileSync(configFile, 'utf8')) as ConfigFile).api_config;
  const root = `${read.api_base_url}/organizations/${read.org}`;
  const access = await call<{ access_token: string }>('POST', `${write.api_base_url}/oauth/access_token`, undefined, {
    refresh_token: write.refresh_token,
  });
  const token = access.access_token;
  await put(`${root}/notification_settings`, token, channelsOf(slack));
  await put(`${root}/datasources`, token, [EMBEDDED, LOGS]);
}

async function put(url: string, token: string, wanted: readonly { readonly name: string }[]): Promise<void> {
  const existing = await call<readonly Existing[]>('GET', url, token);
  for (const item of wanted) {
    const old = existing.find(({ name }) => name === item.name);
    if (!old) await call('POST', url, token, item);
    else if (isOurs(old)) await call('PUT', `${url}/${old.id}`, token, item);
  }
}

async function call<Answer>(method: string, url: string, token?: string, body?: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { 'X-LAST9-API-TOKEN': `Bearer ${token}` }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${new URL(url).pathname}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}
