/** Reads who delivers a batch: Basic authorization (RFC 7617) from the header, or else from the address. */

export interface BasicCredentials {
  readonly username: string;
  readonly password: string;
}

/** The parameter by which Cloudflare Logpush is told to send a header; some senders leave it in the address. */
const PARAMETER = 'header_authorization';

/**
 * The header counts when it holds Basic credentials, else the parameter `header_Authorization` of the query. Undefined: neither does.
 * Both are read leniently, since the value has been through one decoding too many or too few often enough: a `+` of base64 may come
 * raw, as `%2B`, or as the space that form decoding makes of it, and the space after `Basic` as `%20` or `+`.
 */
export function basicCredentials(header: string | undefined, url: string): BasicCredentials | undefined {
  return parseBasic(header ?? '') ?? parseBasic(parameterOf(url) ?? '');
}

function parameterOf(url: string): string | undefined {
  const query = url.slice(url.indexOf('?') + 1);
  if (query.length === url.length) return undefined;
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    if (equals >= 0 && percentDecoded(pair.slice(0, equals)).toLowerCase() === PARAMETER) {
      return percentDecoded(pair.slice(equals + 1));
    }
  }
  return undefined;
}

/** `+` stays as it is. What is not good percent encoding is taken as it stands. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parseBasic(value: string): BasicCredentials | undefined {
  const encoded = /^\s*basic(?:[ \t]+|\+)(\S.*)$/is.exec(value)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded.trimEnd().replace(/\s/g, '+'), 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
