/** Slack: an incoming webhook. The destination of the channel is its address. */
import type { Receiver } from '../receiver.ts';
import { JSON_HEADERS, requireHttpUrl } from '../receiver.ts';
import { slackMessage } from './blocks.ts';

/** What Slack says of a refused message is one word. */
const REASON = /^[a-z_]{1,60}$/;

export const slack: Receiver = {
  // One message a second, as Slack documents, and some more at once.
  rate: { perSecond: 1, burst: 5 },
  request: ({ message, destination }) => ({
    url: requireHttpUrl(destination),
    headers: JSON_HEADERS,
    body: JSON.stringify(slackMessage(message)),
  }),
  explain: (body) => (REASON.test(body.trim()) ? body.trim() : ''),
};
