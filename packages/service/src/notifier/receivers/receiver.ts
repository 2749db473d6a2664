/** What a kind of receiver is: it turns a message into one HTTP request, and an answer into a sentence. */
import type { NotificationMessage } from '@obsiac/api';
import type { Settings } from '../../settings/definition.ts';

export interface Outgoing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON */
  readonly body: string;
}

/** What is sent, and where. */
export interface Delivery {
  readonly message: NotificationMessage;
  /** The same for all messages of one episode or group. */
  readonly dedupKey: string;
  /** Unsealed. */
  readonly destination: string;
  readonly webhookHeaders: Readonly<Record<string, string>>;
}

/** Addresses of receivers that have one for everybody. */
export type ReceiverAddresses = Pick<Settings, 'pagerduty_url' | 'opsgenie_url'>;

export interface Receiver {
  /** Messages a second to one channel, and how many may go at once after a pause. */
  readonly rate: { readonly perSecond: number; readonly burst: number };
  /** @throws BadDestination */
  request(delivery: Delivery, addresses: ReceiverAddresses): Outgoing;
  /** What a refusal says, without secrets; empty when nothing may or can be told. */
  explain(body: string): string;
}

/** The channel cannot be sent to as it is. The message is a sentence without the destination. */
export class BadDestination extends Error {
  readonly code = 'bad_destination';
}

export const JSON_HEADERS = { 'content-type': 'application/json', 'user-agent': 'obsiac' } as const;

/** The name under which messages come. */
export const SENDER = 'Obsiac';

/** Cut to a length in UTF-16 units, with a mark where something is missing. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const kept = text.slice(0, length - 1);
  // Half a character would not be valid text.
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** @throws BadDestination */
export function requireHttpUrl(destination: string): string {
  if (isHttpUrl(destination)) return destination;
  throw new BadDestination('The destination of the channel is not an http:// or https:// address.');
}

/** ISO 8601 */
export function timeText(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString();
}

/** A member of a JSON object that is a text; empty when the body is something else. */
export function memberOf(body: string, ...names: readonly string[]): string {
  try {
    const json = JSON.parse(body) as Record<string, unknown>;
    return names
      .flatMap((name) => json[name])
      .filter((value) => typeof value === 'string')
      .join(': ');
  } catch {
    return '';
  }
}
