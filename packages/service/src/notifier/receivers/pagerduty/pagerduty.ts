/** PagerDuty: Events API v2, `POST {pagerduty_url}/v2/enqueue`. The destination of the channel is the routing key. */
import type { Receiver } from '../receiver.ts';
import { JSON_HEADERS, memberOf } from '../receiver.ts';
import { eventOf } from './event.ts';

export const pagerduty: Receiver = {
  // Its documentation asks for no more than some hundreds a minute for one key.
  rate: { perSecond: 2, burst: 60 },
  request: (delivery, { pagerduty_url }) => ({
    url: `${pagerduty_url}/v2/enqueue`,
    headers: JSON_HEADERS,
    body: JSON.stringify(eventOf(delivery)),
  }),
  explain: (body) => memberOf(body, 'message', 'errors'),
};
