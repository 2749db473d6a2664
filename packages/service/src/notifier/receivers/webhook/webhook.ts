/** Any HTTP endpoint: the body of a PagerDuty event, with the headers of the channel. */
import { eventOf } from '../pagerduty/event.ts';
import { JSON_HEADERS, type Receiver, requireHttpUrl } from '../receiver.ts';

/** What belongs to the connection is not the channel's to say. */
const OURS = /^(host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i;
const NAME = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export const webhook: Receiver = {
  rate: { perSecond: 50, burst: 100 },
  request: (delivery) => ({
    url: requireHttpUrl(delivery.destination),
    headers: { ...JSON_HEADERS, ...usable(delivery.webhookHeaders) },
    body: JSON.stringify(eventOf(delivery)),
  }),
  // Its answer could be anything, also what must not be shown.
  explain: () => '',
};

function usable(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => NAME.test(name) && VALUE.test(value) && !OURS.test(name))
      .map(([name, value]) => [name.toLowerCase(), value]),
  );
}
