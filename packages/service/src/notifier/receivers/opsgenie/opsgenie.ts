/** Opsgenie: Alert API. The destination of the channel is the API key, the alias of an alert its dedup key. */
import type { NotificationMessage } from '@obsiac/api';
import { detailsOf } from '../details.ts';
import { cut, type Delivery, JSON_HEADERS, memberOf, type Outgoing, type Receiver, SENDER } from '../receiver.ts';

/** The limits of the Alert API, in characters. */
const LONGEST = { message: 130, alias: 512, description: 15_000, tag: 50, details: 8000, note: 25_000 } as const;
const MOST_TAGS = 20;

export const opsgenie: Receiver = {
  rate: { perSecond: 10, burst: 50 },
  request: (delivery, { opsgenie_url }) => {
    const headers = { ...JSON_HEADERS, authorization: `GenieKey ${delivery.destination}` };
    return delivery.message.event === 'resolve'
      ? closing(delivery, opsgenie_url, headers)
      : { url: `${opsgenie_url}/v2/alerts`, headers, body: JSON.stringify(alertOf(delivery)) };
  },
  explain: (body) => memberOf(body, 'message'),
};

function aliasOf({ dedupKey }: Delivery): string {
  return cut(dedupKey, LONGEST.alias);
}

/** Creating an alert whose alias is open counts it up, so a repeat is the same request. */
function alertOf(delivery: Delivery): Record<string, unknown> {
  const { message } = delivery;
  return {
    message: cut(message.title, LONGEST.message),
    alias: aliasOf(delivery),
    ...(message.description === '' ? {} : { description: cut(message.description, LONGEST.description) }),
    tags: message.entity.tags.slice(0, MOST_TAGS).map((tag) => cut(tag, LONGEST.tag)),
    actions: ['Debug'],
    details: shortened(detailsOf(message)),
    entity: null,
    source: SENDER,
    note: noteOf(message),
  };
}

function closing(delivery: Delivery, opsgenieUrl: string, headers: Readonly<Record<string, string>>): Outgoing {
  const alias = encodeURIComponent(aliasOf(delivery));
  return {
    url: `${opsgenieUrl}/v2/alerts/${alias}/close?identifierType=alias`,
    headers,
    body: JSON.stringify({ source: SENDER, note: noteOf(delivery.message) }),
  };
}

function noteOf({ event, reason, link }: NotificationMessage): string {
  return cut([event === 'resolve' ? reason : '', link].filter((part) => part !== '').join(' '), LONGEST.note);
}

/** All names and values together keep to the limit; the description has a field of its own. */
function shortened(details: Record<string, string>): Record<string, string> {
  let room: number = LONGEST.details;
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(details)) {
    if (name === 'description') continue;
    const left = room - name.length;
    if (left < 1) break;
    kept.push([name, cut(value, left)]);
    room -= name.length + Math.min(value.length, left);
  }
  return Object.fromEntries(kept);
}
