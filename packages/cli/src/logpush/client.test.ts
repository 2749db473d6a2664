import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLogpushClient, LogpushError } from './client.ts';
import { basicAuthorization, destinationOf } from './destination.ts';
import { jobBody, redactJob } from './job.ts';

const ZONE = '023e105f4ecef8ad9ca31a8372d0c353';
const credentials = { username: 'edge', password: 'p+a/s=s word' };
const destination = destinationOf('logs.example.com', basicAuthorization(credentials));

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Stands for the edge network's API: answers what the test says and keeps what it was asked. */
let server: Server;
let seen: Seen[];
let answer: { status: number; body: string };

beforeEach(async () => {
  seen = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const client = (auth: { token?: string; email?: string; key?: string }) =>
  createLogpushClient({
    apiUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`,
    token: auth.token,
    email: auth.email,
    key: auth.key,
    scope: { zone_id: ZONE },
  });
const succeed = (result: unknown) => ({
  status: 200,
  body: JSON.stringify({ success: true, errors: [], messages: [], result }),
});
const fail = (status: number, code: number, message: string) => ({
  status,
  body: JSON.stringify({ success: false, errors: [{ code, message }], messages: [], result: null }),
});
const request = {
  name: 'shop logs',
  dataset: 'http_requests',
  destination,
  fields: ['ClientIP', 'EdgeStartTimestamp', 'RayID'],
  enabled: true,
  filter: null,
  sampleRate: null,
  limits: { bytes: null, records: null, seconds: null },
};

describe('create', () => {
  test('sends the documented job object with e-mail and key', async () => {
    answer = succeed({ id: 7, dataset: 'http_requests', destination_conf: destination, enabled: true });
    const job = await client({ email: 'ops@example.com', key: 'the-global-key' }).create(jobBody(request));
    expect(job.id).toBe(7);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ method: 'POST', url: `/client/v4/zones/${ZONE}/logpush/jobs` });
    expect(seen[0]?.headers).toMatchObject({
      'x-auth-email': 'ops@example.com',
      'x-auth-key': 'the-global-key',
      'content-type': 'application/json',
    });
    expect(seen[0]?.headers.authorization).toBeUndefined();
    expect(seen[0]?.body).toBe(
      '{"name":"shop logs","output_options":{"field_names":["ClientIP","EdgeStartTimestamp","RayID"],"timestamp_format":"unixnano"},' +
        '"destination_conf":"https://logs.example.com/cloudflare?header_Authorization=Basic%20ZWRnZTpwK2Evcz1zIHdvcmQ%3D","dataset":"http_requests","enabled":true}',
    );
  });

  test('uses a token when there is one', async () => {
    answer = succeed({ id: 7 });
    await client({ token: 'scoped-token' }).create(jobBody(request));
    expect(seen[0]?.headers.authorization).toBe('Bearer scoped-token');
    expect(seen[0]?.headers['x-auth-key']).toBeUndefined();
  });

  test("takes the dataset's default fields, filter, sample and limits", () => {
    const body = jobBody({
      ...request,
      fields: null,
      filter: '{"where":{"key":"EdgeResponseStatus","operator":"geq","value":500}}',
      sampleRate: 0.1,
      limits: { bytes: 5_000_000, records: 1_000, seconds: 30 },
    });
    expect(body.output_options?.field_names).toContain('EdgeStartTimestamp');
    expect(body.output_options?.field_names).not.toContain('WAFAction');
    expect(body).toMatchObject({
      max_upload_bytes: 5_000_000,
      max_upload_records: 1_000,
      max_upload_interval_seconds: 30,
      filter: expect.stringContaining('geq'),
    });
    expect(body.output_options?.sample_rate).toBe(0.1);
  });
});

test('list, get, update and delete', async () => {
  const api = client({ token: 't' });
  answer = succeed([{ id: 1 }, { id: 2 }]);
  expect((await api.list()).map((job) => job.id)).toEqual([1, 2]);
  answer = succeed({ id: 2, enabled: false });
  expect((await api.get(2)).enabled).toBe(false);
  await api.update(2, { enabled: true });
  await api.delete(2);
  answer = succeed({ ClientIP: 'string; IP address of the client' });
  expect(await api.fields('http_requests')).toEqual({ ClientIP: 'string; IP address of the client' });
  expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
    `GET /client/v4/zones/${ZONE}/logpush/jobs`,
    `GET /client/v4/zones/${ZONE}/logpush/jobs/2`,
    `PUT /client/v4/zones/${ZONE}/logpush/jobs/2`,
    `DELETE /client/v4/zones/${ZONE}/logpush/jobs/2`,
    `GET /client/v4/zones/${ZONE}/logpush/datasets/http_requests/fields`,
  ]);
  expect(seen[2]?.body).toBe('{"enabled":true}');
});

describe('refusals', () => {
  test.each([
    [
      409,
      1009,
      'creating a new job is not allowed: exceeded max jobs allowed',
      'logpush_too_many_jobs',
      /as many log-push jobs/,
    ],
    [
      403,
      1004,
      "reading job for product 'http_requests' is not allowed (1004)",
      'logpush_not_allowed',
      /Logs: Write|may not/,
    ],
    [
      400,
      1002,
      `error validating destination: error writing object: error uploading to ${destination}`,
      'logpush_destination_refused',
      /test file/,
    ],
    [403, 10000, 'Authentication error', 'logpush_credentials_refused', /credentials/],
    [404, 1003, 'job not found', 'logpush_not_found', /no such job/],
    [400, 1001, 'unknown field name Foo', 'logpush_invalid', /refused the request/],
  ])('%i %i becomes %s', async (status, code, message, expected, summary) => {
    answer = fail(status, code, message);
    const refused = await client({ token: 'secret-token' })
      .create(jobBody(request))
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LogpushError);
    const { code: got, message: said, detail, cause } = refused as LogpushError;
    expect(got).toBe(expected);
    expect(said).toMatch(summary);
    for (const secret of ['secret-token', 'ZWRnZTpwK2', credentials.password])
      expect(`${said} ${detail} ${JSON.stringify(cause)}`).not.toContain(secret);
  });

  test('no answer', async () => {
    const api = createLogpushClient({
      apiUrl: 'http://127.0.0.1:1/client/v4',
      token: 't',
      email: undefined,
      key: undefined,
      scope: { zone_id: ZONE },
    });
    await expect(api.list()).rejects.toMatchObject({ code: 'logpush_unavailable' });
  });
});

test('a job is shown without credentials', () => {
  const shown = redactJob({
    id: 1,
    destination_conf: destination,
    error_message: `error uploading to ${destination}` as never,
  });
  expect(JSON.stringify(shown)).not.toContain('ZWRnZT');
  expect(shown.destination_conf).toBe('https://logs.example.com/cloudflare?header_Authorization=***');
});

test.each([
  ['logs.example.com', 'https://logs.example.com/cloudflare'],
  ['https://logs.example.com/', 'https://logs.example.com/cloudflare'],
  ['https://logs.example.com:8443/cloudflare', 'https://logs.example.com:8443/cloudflare'],
  ['http://127.0.0.1:7780', 'http://127.0.0.1:7780/cloudflare'],
])('the endpoint %s', (endpoint, expected) => {
  expect(destinationOf(endpoint, 'Basic x')).toBe(`${expected}?header_Authorization=Basic%20x`);
  expect(destinationOf(endpoint, 'Basic x', 'dns_logs')).toBe(
    `${expected}?header_Authorization=Basic%20x&dataset=dns_logs`,
  );
});
