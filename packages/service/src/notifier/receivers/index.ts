/** The receivers by the type of their channels. */
import { opsgenie } from './opsgenie/opsgenie.ts';
import { pagerduty } from './pagerduty/pagerduty.ts';
import type { Receiver } from './receiver.ts';
import { slack } from './slack/slack.ts';
import { webhook } from './webhook/webhook.ts';

const RECEIVERS: Readonly<Record<string, Receiver>> = { slack, pagerduty, opsgenie, generic_webhook: webhook };

/** Undefined for a type that nothing can be sent to. */
export function receiverOf(channelType: string): Receiver | undefined {
  return Object.hasOwn(RECEIVERS, channelType) ? RECEIVERS[channelType] : undefined;
}
