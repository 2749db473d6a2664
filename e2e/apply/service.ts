/** A real service in this process, with a channel or two and a data source, for tests that plan and apply against it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type ClientOptions, type Credential, createClient, type Scope } from '@obsiac/api';
import { createApp, settingsSchema } from '@obsiac/service';
import { type Http, openHttp } from '../../packages/cli/src/remote/http.ts';

export interface TestService {
  /** With `/api/v4`. */
  readonly base: string;
  readonly credentials: Readonly<Record<Scope, Credential>>;
  readonly dataDir: string;
  /** A client that goes through `base`, or another address in front of it. */
  client(options?: Partial<ClientOptions> & { readonly through?: string }): Client;
  /** A request of the test's own, with the token of a scope. */
  request(scope: Scope, method: string, path: string, body?: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

export const CHANNELS = [
  { name: 'ops alerts', type: 'slack', destination: 'https://hooks.slack.example.com/services/T0/B0/x' },
  { name: 'on call', type: 'pagerduty', destination: '0123456789abcdef0123456789abcdef' },
] as const;

/** `channels` more than those of `CHANNELS` are made as Slack channels, or of the type given. */
export async function startService(channels: readonly { name: string; type: string }[] = []): Promise<TestService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'obsiac-e2e-'));
  const settings = settingsSchema.parse({
    data_dir: dataDir,
    port: 0,
    org: 'acme',
    log_level: 'silent',
    rate_limit: 100_000_000,
    logs: false,
  });
  const app = createApp(settings);
  const address = await app.start();
  const config = JSON.parse(readFileSync(app.configFile!, 'utf8')) as { api_config: Record<Scope, Credential> };
  const http: Http = openHttp();
  const client: TestService['client'] = ({ through, ...options } = {}) =>
    createClient({
      fetch: http.fetch,
      credential: (scope) => ({ ...config.api_config[scope], api_base_url: through ?? address.apiBaseUrl }),
      ...options,
    });
  const tokens = new Map<Scope, string>();
  const request: TestService['request'] = async (scope, method, path, body) => {
    const headers = { 'content-type': 'application/json' };
    if (!tokens.has(scope)) {
      const exchange = await fetch(`${address.apiBaseUrl}/oauth/access_token`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ refresh_token: config.api_config[scope].refresh_token }),
      });
      tokens.set(scope, ((await exchange.json()) as { access_token: string }).access_token);
    }
    const answer = await fetch(`${address.apiBaseUrl}/organizations/acme${path}`, {
      method,
      headers: { ...(body === undefined ? {} : headers), 'x-last9-api-token': `Bearer ${tokens.get(scope)}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  for (const channel of [...CHANNELS, ...channels]) {
    await request('write', 'POST', '/notification_settings', { destination: 'https://example.com/hook', ...channel });
  }
  return {
    base: address.apiBaseUrl,
    credentials: config.api_config,
    dataDir,
    client,
    request,
    async stop() {
      await http.close();
      await app.stop();
      rmSync(dataDir, { recursive: true });
    },
  };
}
