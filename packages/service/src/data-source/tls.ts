/** TLS settings of a data source: whether they hold together, and what the connection is made with. */
import { X509Certificate } from 'node:crypto';
import { type ConnectionOptions, createSecureContext } from 'node:tls';
import type { DataSourceProperties } from '@obsiac/api';
import { buildConnector } from 'undici';
import { type ConfigProblem, isServerName } from './http-config.ts';

type Tls = NonNullable<DataSourceProperties['tls']>;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** The first thing that no connection could be made with. */
export function tlsProblem(tls: Tls): ConfigProblem | undefined {
  for (const field of ['ca_cert', 'client_cert'] as const) {
    const pem = tls[field];
    if (pem && !holdsCertificates(pem)) return { path: `tls.${field}`, message: 'is not a certificate in PEM' };
  }
  if (tls.server_name && !isServerName(tls.server_name)) {
    return { path: 'tls.server_name', message: 'must be a host name' };
  }
  if (Boolean(tls.client_cert) !== Boolean(tls.client_key)) {
    const missing = tls.client_cert ? 'client_key' : 'client_cert';
    return { path: `tls.${missing}`, message: 'is missing: client_cert and client_key go together' };
  }
  if (!tls.client_cert || !tls.client_key) return undefined;
  try {
    createSecureContext({ cert: tls.client_cert, key: tls.client_key });
    return undefined;
  } catch {
    return { path: 'tls.client_key', message: 'is not an unencrypted private key in PEM that belongs to client_cert' };
  }
}

function holdsCertificates(pem: string): boolean {
  const blocks = pem.match(CERTIFICATE) ?? [];
  try {
    for (const block of blocks) new X509Certificate(block);
    return blocks.length > 0;
  } catch {
    return false;
  }
}

/**
 * Makes the connections of a pool: HTTP/1.1, TLS as told.
 * @param timeout milliseconds until a connection must stand, its TLS handshake included
 */
export function connectorOf(tls: Tls, timeout: number): buildConnector.connector {
  const options: ConnectionOptions = {
    ...(tls.ca_cert ? { ca: tls.ca_cert } : {}),
    ...(tls.client_cert ? { cert: tls.client_cert, key: tls.client_key } : {}),
    ...(tls.insecure_skip_verify ? { rejectUnauthorized: false } : {}),
  };
  const connect = buildConnector({ ...options, timeout, allowH2: false } as buildConnector.BuildOptions);
  if (!tls.server_name) return connect;
  const servername = tls.server_name;
  return (target, callback) => connect(target.protocol === 'https:' ? { ...target, servername } : target, callback);
}
