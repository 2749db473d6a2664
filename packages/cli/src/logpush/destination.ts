/** The destination of a log-push job: the intake's address with its credentials as an encoded header parameter. */

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** The value of an `Authorization` header (RFC 7617). */
export function basicAuthorization({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

/**
 * `https://{endpoint}/cloudflare?header_Authorization=<encoded>[&dataset=<dataset>]`, the form that Cloudflare documents for
 * HTTP destinations. Everything is percent-encoded, so that `+`, `/` and `=` of base64 arrive as they are.
 * @param endpoint the intake's origin or host, with or without scheme and path
 */
export function destinationOf(endpoint: string, authorization: string, dataset?: string): string {
  const url = new URL(/^[a-z]+:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`);
  const path = url.pathname.replace(/\/+$/, '');
  const intake = path.endsWith('/cloudflare') ? path : `${path}/cloudflare`;
  const parameters = [`header_Authorization=${encodeURIComponent(authorization)}`];
  if (dataset !== undefined) parameters.push(`dataset=${encodeURIComponent(dataset)}`);
  return `${url.origin}${intake}?${parameters.join('&')}`;
}

const SECRET_PARAMETER =
  /([?&](?:header_[^=&]*|access-key-id|secret-access-key|[^=&]*(?:token|key|secret|password|sas|sig)[^=&]*)=)[^&]*/gi;

/** A destination with every credential replaced, for showing: user info and each `header_…` and key-like parameter. */
export function redactDestination(destination: string): string {
  return destination.replace(/^([a-z0-9+.-]+:\/\/)[^/?#]*@/i, '$1***@').replace(SECRET_PARAMETER, '$1***');
}

/** The authorization that a destination carries; undefined when it has none. A raw `+` is a plus, not a space. */
export function authorizationOf(destination: string): string | undefined {
  const encoded = /[?&]header_authorization=([^&#]*)/i.exec(destination)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded; // Not percent-encoded: taken as it stands.
  }
}
