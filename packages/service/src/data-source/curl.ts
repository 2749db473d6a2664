/** A query as a line for a shell that asks the same: values quoted, secrets as variables to set before. */
import type { DataSourceProperties } from '@obsiac/api';
import { authorizationOf, type Endpoint } from './http-config.ts';

/**
 * `curl` of a POST. What is secret stands as `"$PASSWORD"`, `"$BEARER_TOKEN"`, `"$HEADER_<NAME>"`; certificates as
 * `"$CA_CERT"`, `"$CLIENT_CERT"`, `"$CLIENT_KEY"`, which are names of files.
 * @param form fields in their order
 */
export function curlLine(
  endpoint: Endpoint,
  properties: DataSourceProperties,
  form: Readonly<Record<string, string>>,
): string {
  const fields = Object.entries(form).flatMap(([name, value]) => ['--data-urlencode', quoted(`${name}=${value}`)]);
  return ['curl', '-sS', ...proof(properties), ...ownHeaders(properties), ...tls(endpoint), ...fields]
    .concat(quoted(addressOf(endpoint)))
    .join(' ');
}

function proof(properties: DataSourceProperties): string[] {
  switch (authorizationOf(properties)) {
    case 'bearer':
      return ['-H', '"Authorization: Bearer $BEARER_TOKEN"'];
    case 'basic':
      return ['-u', `${quoted(`${properties.username ?? ''}:`)}"$PASSWORD"`];
    default:
      return [];
  }
}

function ownHeaders({ headers = {} }: DataSourceProperties): string[] {
  return Object.keys(headers).flatMap((name) => ['-H', `${quoted(`${name}: `)}"$${variableOf(name)}"`]);
}

/** `HEADER_X_SCOPE_ORGID`: with its beginning, no header can take the place of `PATH`. */
function variableOf(header: string): string {
  return `HEADER_${header.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
}

function tls({ tls, origin }: Endpoint): string[] {
  if (!origin.startsWith('https:')) return [];
  const { hostname, port, host } = new URL(origin);
  const number = port || '443';
  return [
    ...(tls.ca_cert ? ['--cacert', '"$CA_CERT"'] : []),
    ...(tls.client_cert ? ['--cert', '"$CLIENT_CERT"', '--key', '"$CLIENT_KEY"'] : []),
    ...(tls.insecure_skip_verify ? ['--insecure'] : []),
    // curl takes the name for the certificate from the address; so the address has it, and leads to the real host.
    ...(tls.server_name
      ? ['--connect-to', quoted(`${tls.server_name}:${number}:${hostname}:${number}`), '-H', quoted(`Host: ${host}`)]
      : []),
  ];
}

function addressOf({ origin, target, tls }: Endpoint): string {
  if (!tls.server_name || !origin.startsWith('https:')) return origin + target;
  const { port } = new URL(origin);
  return `https://${tls.server_name}${port === '' ? '' : `:${port}`}${target}`;
}

/** One word of a POSIX shell, whatever is in it; plain ones stay as they are. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
