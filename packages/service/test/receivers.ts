/**
 * Stands for Slack, PagerDuty, Opsgenie and a webhook, on one port of the loopback address: takes only what their documentation
 * allows, remembers what came and when, and misbehaves as told.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

export const RECEIVER_KINDS = ['slack', 'pagerduty', 'opsgenie', 'generic_webhook'] as const;
export type ReceiverKind = (typeof RECEIVER_KINDS)[number];

export interface Received {
  readonly kind: ReceiverKind;
  /** By the clock the receivers were started with, in milliseconds. */
  readonly at: number;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
  readonly event: 'trigger' | 'repeat' | 'resolve' | 'test';
  /** Undefined for Slack, which knows none. */
  readonly dedupKey: string | undefined;
  /** The status it was answered with; undefined when it was not answered. */
  readonly status: number | undefined;
  /** What the documentation does not allow. */
  readonly problems: readonly string[];
}

/**
 * How a request is met. `cut`: the connection ends before an answer. `hang`: no answer, until the receivers stop.
 * `taken-and-cut`: the message counts as accepted, and the sender does not learn it.
 */
export type Misbehaviour =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'cut'
  | 'hang'
  | 'taken-and-cut';

export interface Receivers {
  /** `http://127.0.0.1:1234`: for the settings `pagerduty_url` and `opsgenie_url`. */
  readonly origin: string;
  /** Everything that came, also what was refused. */
  readonly requests: readonly Received[];
  /** What was accepted. */
  accepted(kind?: ReceiverKind): Received[];
  /** A destination that is right for the kind. The name tells channels of one kind apart. */
  destination(kind: ReceiverKind, name?: string): string;
  /** Meets the next requests of a kind so, one after the other; then as usual. */
  misbehave(kind: ReceiverKind, ...steps: readonly Misbehaviour[]): void;
  /** Meets every request of a kind so, until told otherwise. */
  misbehaveAlways(kind: ReceiverKind, step: Misbehaviour | undefined): void;
  /** Calls back with each message that is accepted. */
  onAccepted(listener: (received: Received) => void): void;
  clear(): void;
  stop(): Promise<void>;
}

/** @param now milliseconds; the clock of the machine unless given */
export async function startReceivers({ now = Date.now }: { now?: () => number } = {}): Promise<Receivers> {
  const requests: Received[] = [];
  const scripts = new Map<ReceiverKind, Misbehaviour[]>();
  const always = new Map<ReceiverKind, Misbehaviour>();
  const listeners: ((received: Received) => void)[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((text) => {
      const kind = kindOf(request.url ?? '');
      if (kind === undefined) return answer(response, 404, {}, 'not found');
      const step = scripts.get(kind)?.shift() ?? always.get(kind);
      const received = { ...judge(kind, request, text), at: now() };
      const isAccepted = received.problems.length === 0 && (step === undefined || step === 'taken-and-cut');
      const status =
        typeof step === 'object' ? step.status : step !== undefined ? undefined : isAccepted ? OK[kind] : 400;
      const record: Received = { ...received, status: isAccepted ? OK[kind] : status };
      requests.push(record);
      if (isAccepted) for (const listener of listeners) listener(record);
      respond(response, kind, step, record);
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    requests,
    accepted: (kind) =>
      requests.filter((each) => each.status === OK[each.kind] && (kind === undefined || each.kind === kind)),
    destination: (kind, name = 'main') => destinationOf(origin, kind, name),
    misbehave: (kind, ...steps) => void scripts.set(kind, [...(scripts.get(kind) ?? []), ...steps]),
    misbehaveAlways: (kind, step) => void (step === undefined ? always.delete(kind) : always.set(kind, step)),
    onAccepted: (listener) => void listeners.push(listener),
    clear: () => {
      requests.length = 0;
      scripts.clear();
      always.clear();
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const OK: Readonly<Record<ReceiverKind, number>> = { slack: 200, pagerduty: 202, opsgenie: 202, generic_webhook: 200 };

/** PagerDuty's routing keys have 32 characters, Opsgenie's keys are UUIDs. */
function destinationOf(origin: string, kind: ReceiverKind, name: string): string {
  const hex = Buffer.from(name).toString('hex').padEnd(32, '0').slice(0, 32);
  switch (kind) {
    case 'slack':
      return `${origin}/services/T00000000/B00000000/${hex.slice(0, 24)}`;
    case 'pagerduty':
      return hex;
    case 'opsgenie':
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    case 'generic_webhook':
      return `${origin}/hook/${hex}`;
  }
}

function kindOf(url: string): ReceiverKind | undefined {
  if (url.startsWith('/services/')) return 'slack';
  if (url === '/v2/enqueue') return 'pagerduty';
  if (url.startsWith('/v2/alerts')) return 'opsgenie';
  return url.startsWith('/hook/') ? 'generic_webhook' : undefined;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function answer(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(body);
}

function respond(
  response: ServerResponse,
  kind: ReceiverKind,
  step: Misbehaviour | undefined,
  { problems, dedupKey }: Received,
): void {
  if (step === 'hang') return;
  if (step === 'cut' || step === 'taken-and-cut') response.destroy();
  else if (step !== undefined) answer(response, step.status, step.headers ?? {}, step.body ?? '');
  else if (problems.length > 0) answer(response, 400, {}, refusalOf(kind, problems));
  else answer(response, OK[kind], {}, acceptanceOf(kind, dedupKey));
}

function acceptanceOf(kind: ReceiverKind, dedupKey: string | undefined): string {
  switch (kind) {
    case 'slack':
      return 'ok';
    case 'pagerduty':
      return JSON.stringify({ status: 'success', message: 'Event processed', dedup_key: dedupKey });
    case 'opsgenie':
      return JSON.stringify({ result: 'Request will be processed', took: 0.1, requestId: 'r-1' });
    case 'generic_webhook':
      return '';
  }
}

function refusalOf(kind: ReceiverKind, problems: readonly string[]): string {
  if (kind === 'slack') return 'invalid_blocks';
  if (kind === 'opsgenie') return JSON.stringify({ message: problems.join('; '), took: 0.1, requestId: 'r-1' });
  return JSON.stringify({ status: 'invalid event', message: 'Event object is invalid', errors: problems });
}

const short = (length: number) => z.string().max(length);
const link = z.strictObject({ href: z.url(), text: z.string() });

const trigger = z.strictObject({
  summary: z.string().min(1).max(1024),
  source: z.string().min(1),
  severity: z.enum(['critical', 'error', 'warning', 'info']),
  timestamp: z.iso.datetime(),
  component: z.string(),
  group: z.string(),
  class: z.string(),
  custom_details: z.record(z.string(), z.string()),
});

/** As the Events API v2 documents it. */
const pagerdutyEvent = (routingKey: z.ZodType) =>
  z.strictObject({
    routing_key: routingKey,
    event_action: z.enum(['trigger', 'acknowledge', 'resolve']),
    dedup_key: z.string().min(1).max(255),
    client: z.string(),
    client_url: z.url(),
    links: z.array(link),
    images: z.array(z.unknown()),
    payload: trigger,
  });

const total = (details: Record<string, string>) => Object.entries(details).flat().join('').length;

const opsgenieAlert = z.strictObject({
  message: z.string().min(1).max(130),
  alias: z.string().min(1).max(512),
  description: z.string().min(1).max(15_000).optional(),
  tags: z.array(short(50)).max(20),
  actions: z.array(short(50)).max(10),
  details: z.record(z.string(), z.string()).refine((details) => total(details) <= 8000, 'details over 8000'),
  entity: short(512).nullable(),
  source: short(100),
  note: short(25_000),
});
const opsgenieClose = z.strictObject({ source: short(100), note: short(25_000) });

const mrkdwn = (length: number) => z.strictObject({ type: z.literal('mrkdwn'), text: z.string().min(1).max(length) });
const block = z.union([
  z.strictObject({ type: z.literal('section'), text: mrkdwn(3000) }),
  z.strictObject({ type: z.literal('section'), fields: z.array(mrkdwn(2000)).min(1).max(10) }),
  z.strictObject({ type: z.literal('context'), elements: z.array(mrkdwn(3000)).min(1).max(10) }),
]);
const slackMessage = z.strictObject({
  text: z.string().min(1).max(40_000),
  link_names: z.literal(true).optional(),
  attachments: z
    .array(
      z.strictObject({
        color: z.string().regex(/^#[\da-f]{6}$/),
        fallback: z.string().min(1),
        blocks: z.array(block).max(50),
      }),
    )
    .max(20),
});

const KEYS: Readonly<Record<ReceiverKind, RegExp>> = {
  slack: /^\/services\/T\w+\/B\w+\/\w+$/,
  pagerduty: /^[\da-zA-Z]{32}$/,
  opsgenie: /^GenieKey [\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
  generic_webhook: /^http:\/\/.*\/hook\/\w+$/,
};

function judge(kind: ReceiverKind, request: IncomingMessage, text: string): Omit<Received, 'at' | 'status'> {
  const path = request.url ?? '';
  const problems: string[] = [];
  if (request.method !== 'POST') problems.push(`method ${request.method}`);
  if (request.headers['content-type'] !== 'application/json') problems.push('content type');
  if (kind === 'slack' && !KEYS.slack.test(path)) problems.push('address');
  if (kind === 'opsgenie' && !KEYS.opsgenie.test(request.headers.authorization ?? '')) problems.push('authorization');
  const body = parse(text, problems);
  const closing = /^\/v2\/alerts\/([^/?]+)\/close\?identifierType=alias$/.exec(path);
  if (kind === 'opsgenie' && !closing && path !== '/v2/alerts') problems.push(`path ${path}`);
  const checked = schemaOf(kind, closing !== null).safeParse(body);
  if (!checked.success)
    problems.push(...checked.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  const alias = closing ? decodeURIComponent(closing[1]!) : undefined;
  const dedupKey = kind === 'slack' ? undefined : (alias ?? body?.dedup_key ?? body?.alias);
  return {
    kind,
    path,
    headers: request.headers,
    body,
    event: eventOf(kind, body, closing !== null),
    dedupKey,
    problems,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
function parse(text: string, problems: string[]): any {
  try {
    return JSON.parse(text);
  } catch {
    problems.push('no JSON');
    return undefined;
  }
}

function schemaOf(kind: ReceiverKind, isClosing: boolean): z.ZodType {
  if (kind === 'slack') return slackMessage;
  if (kind === 'opsgenie') return isClosing ? opsgenieClose : opsgenieAlert;
  return pagerdutyEvent(z.string().regex(KEYS[kind]));
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
function eventOf(kind: ReceiverKind, body: any, isClosing: boolean): Received['event'] {
  if (kind !== 'slack') return isClosing || body?.event_action === 'resolve' ? 'resolve' : 'trigger';
  const text = String(body?.text);
  if (text.startsWith('RESOLVED')) return 'resolve';
  if (text.startsWith('TEST')) return 'test';
  return text.includes('(still firing)') ? 'repeat' : 'trigger';
}
