/** The body of an event of PagerDuty's Events API v2; webhooks get the same. */
import { detailsOf, linksOf, SEVERITIES } from '../details.ts';
import { cut, type Delivery, SENDER, timeText } from '../receiver.ts';

const LONGEST_SUMMARY = 1024;
const LONGEST_KEY = 255;
const MOST_LINKS = 20;

export function eventOf({ message, dedupKey, destination }: Delivery): Record<string, unknown> {
  const key = cut(dedupKey, LONGEST_KEY);
  return {
    routing_key: destination,
    event_action: message.event === 'resolve' ? 'resolve' : 'trigger',
    dedup_key: key,
    client: SENDER,
    client_url: message.link,
    links: linksOf(message).slice(0, MOST_LINKS),
    images: [],
    payload: {
      summary: cut(message.title, LONGEST_SUMMARY),
      timestamp: timeText(message.ended_at ?? message.started_at),
      severity: message.kind === 'test' ? 'info' : SEVERITIES[message.severity],
      source: key,
      component: '',
      group: key,
      class: message.rule.type,
      custom_details: detailsOf(message),
    },
  };
}
