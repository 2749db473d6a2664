/** The receivers of a test: one HTTP server that takes the messages of all channels, and answers as it is told to. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** The channels that a world can have, by name; each is of one kind. */
export const CHANNELS = {
  ops: 'slack',
  dev: 'slack',
  pager: 'pagerduty',
  genie: 'opsgenie',
  hook: 'generic_webhook',
} as const;
export type ChannelName = keyof typeof CHANNELS;

/** How a receiver answers: with a status, or by cutting the connection. */
export type Reply = number | 'cut';

/** One reply for all messages, or one for each by its body; undefined: as when all is well. */
export type Replies = Reply | ((body: Taken['body']) => Reply | undefined);

export interface Taken {
  readonly channel: ChannelName;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: every receiver has a body of its own
  readonly body: any;
  readonly reply: Reply;
}

export interface Receivers {
  readonly url: string;
  /** What the document of a channel says. */
  destination(channel: ChannelName): string;
  answer(channel: ChannelName, replies: Replies | undefined, headers?: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

interface Answer {
  readonly replies: Replies;
  readonly headers: Readonly<Record<string, string>>;
}

export async function startReceivers(take: (taken: Taken) => void): Promise<Receivers> {
  const answers = new Map<ChannelName, Answer>();
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      const body = JSON.parse(text) as Taken['body'];
      const channel = channelOf(request, body);
      const { replies, headers } = answers.get(channel) ?? { replies: accepted(channel), headers: {} };
      const reply = (typeof replies === 'function' ? replies(body) : replies) ?? accepted(channel);
      take({ channel, path: request.url ?? '', headers: request.headers, body, reply });
      respond(response, channel, reply, headers);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `http://127.0.0.1:${address.port}`;
  return {
    url,
    destination: (channel) => {
      const type = CHANNELS[channel];
      return type === 'slack' || type === 'generic_webhook' ? `${url}/${type}/${channel}` : keyOf(channel);
    },
    answer: (channel, replies, headers = {}) => {
      if (replies === undefined) answers.delete(channel);
      else answers.set(channel, { replies, headers });
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** 32 characters, as a routing key has. */
function keyOf(channel: ChannelName): string {
  return `key-of-${channel}`.padEnd(32, '0');
}

function channelOf(request: IncomingMessage, body: Taken['body']): ChannelName {
  const [, receiver = '', name = ''] = (request.url ?? '').split('/');
  const names = Object.keys(CHANNELS) as ChannelName[];
  const found = names.find((channel) => {
    if (receiver === 'pagerduty') return body.routing_key === keyOf(channel);
    if (receiver === 'opsgenie') return request.headers.authorization === `GenieKey ${keyOf(channel)}`;
    return name === channel;
  });
  if (found === undefined) throw new Error(`a message to nobody: ${request.url}`);
  return found;
}

/** What each kind answers when all is well. */
function accepted(channel: ChannelName): number {
  return { slack: 200, generic_webhook: 204, pagerduty: 202, opsgenie: 202 }[CHANNELS[channel]];
}

function respond(
  response: ServerResponse,
  channel: ChannelName,
  reply: Reply,
  headers: Readonly<Record<string, string>>,
): void {
  if (reply === 'cut') {
    response.socket?.destroy();
    return;
  }
  const isSlack = CHANNELS[channel] === 'slack';
  response.writeHead(reply, { 'content-type': isSlack ? 'text/plain' : 'application/json', ...headers });
  if (reply === 204) response.end();
  else if (isSlack) response.end(reply < 300 ? 'ok' : 'invalid_payload');
  else response.end(JSON.stringify(reply < 300 ? { status: 'success' } : { status: 'invalid', message: 'Refused.' }));
}
