/** What a refusal of the log-push API means, as sentences with a way out. Nothing here repeats a credential. */
import { redactDestination } from './destination.ts';

export interface ApiMessage {
  readonly code?: number;
  readonly message?: string;
}

export interface Refusal {
  readonly code:
    | 'logpush_too_many_jobs'
    | 'logpush_not_allowed'
    | 'logpush_destination_refused'
    | 'logpush_credentials_refused'
    | 'logpush_not_found'
    | 'logpush_invalid'
    | 'logpush_rate_limited'
    | 'logpush_unavailable';
  readonly summary: string;
  readonly detail: string;
}

type Rule = readonly [pattern: RegExp, refusal: (said: string) => Refusal];

/** By message first: Cloudflare answers several of these with the same status. */
const RULES: readonly Rule[] = [
  [
    /exceeded max jobs allowed/i,
    () => ({
      code: 'logpush_too_many_jobs',
      summary: 'The zone has as many log-push jobs as its plan allows',
      detail:
        'Delete one that is no longer needed (obsiac logpush list, then obsiac logpush delete ID), or point an existing one here with obsiac logpush update ID.',
    }),
  ],
  [
    /\(1004\)|not allowed/i,
    (said) => ({
      code: 'logpush_not_allowed',
      summary: 'These Cloudflare credentials may not use log-push jobs here',
      detail: `Cloudflare said: ${said} The token needs the permission "Logs: Write" (also to read jobs, since they hold secrets), at the zone for zone datasets and at the account for account datasets; Zero Trust datasets also need "Zero Trust: PII Read".`,
    }),
  ],
  [
    /validating destination|error uploading|destination/i,
    (said) => ({
      code: 'logpush_destination_refused',
      summary: 'Cloudflare could not deliver its test file to the destination',
      detail: `Cloudflare said: ${said} The address must be reachable from the internet over HTTPS with a publicly trusted certificate, and the credentials in it must be right. "obsiac logpush check" tries the destination from here.`,
    }),
  ],
];

/** @param status HTTP status; undefined when no answer came */
export function refusalOf(status: number | undefined, errors: readonly ApiMessage[], fallback: string): Refusal {
  const said = sentence(errors.length > 0 ? errors.map(describe).join('; ') : fallback);
  if (status === undefined) {
    return {
      code: 'logpush_unavailable',
      summary: 'Cloudflare did not answer',
      detail: `${said} Check the network and --api-url.`,
    };
  }
  const rule = RULES.find(([pattern]) => pattern.test(said));
  if (rule && status < 500 && status !== 429) return rule[1](said);
  return refusalByStatus(status, said);
}

function refusalByStatus(status: number, said: string): Refusal {
  if (status === 401 || status === 403) {
    return {
      code: 'logpush_credentials_refused',
      summary: 'Cloudflare refused the credentials',
      detail: `It said: ${said} Check CLOUDFLARE_API_TOKEN, or CLOUDFLARE_EMAIL with CLOUDFLARE_API_KEY.`,
    };
  }
  if (status === 404) {
    return {
      code: 'logpush_not_found',
      summary: 'Cloudflare has no such job, zone or account',
      detail: `It said: ${said}`,
    };
  }
  if (status === 429) {
    return {
      code: 'logpush_rate_limited',
      summary: 'Cloudflare asks to slow down',
      detail: `It said: ${said} Try again in a few minutes.`,
    };
  }
  if (status >= 500) {
    return {
      code: 'logpush_unavailable',
      summary: 'Cloudflare could not answer',
      detail: `It answered ${status}: ${said} Try again later.`,
    };
  }
  return { code: 'logpush_invalid', summary: 'Cloudflare refused the request', detail: `It said: ${said}` };
}

function describe({ code, message }: ApiMessage): string {
  const text = message ?? 'no message';
  return code === undefined || text.includes(String(code)) ? text : `${text} (${code})`;
}

/** One line, ended by a full stop, without credentials of a destination that the message may quote. */
function sentence(text: string): string {
  const line = redactDestination(text.replace(/\s+/g, ' ').trim()).replace(
    /(Basic|Bearer)(%20|\s)+[^\s"'&,;]+/gi,
    '$1 ***',
  );
  return /[.!?]$/.test(line) ? line : `${line}.`;
}
