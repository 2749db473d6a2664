/** Where servers listen, and what to tell a person when they cannot. */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Api } from './http/api.ts';
import { Refusal } from './refusal.ts';

/** The address to listen on cannot be had. */
export class ListenError extends Error {
  readonly code = 'cannot_listen';
}

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** @param flag the setting that names the port, as a flag. @returns the port that was taken */
export async function listen(server: Api, { host, port }: Endpoint, flag = '--port'): Promise<number> {
  try {
    await server.listen({ host, port, listenTextResolver: () => 'listening' });
    return (server.server.address() as AddressInfo).port;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'EADDRINUSE') {
      throw new ListenError(`Port ${port} on ${host} is taken by another program. Choose another with ${flag}.`, {
        cause,
      });
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      const advice = `Choose another address with ${flag.replace('port', 'host')} and ${flag}.`;
      throw new ListenError(`Cannot listen on ${host}:${port} (${code}). ${advice}`, { cause });
    }
    throw cause;
  }
}

/** The address under which clients on this machine reach it: one that means "all" cannot be dialled. */
export function originOf({ host, port }: Endpoint, scheme: 'http' | 'https'): string {
  const dialled = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${scheme}://${dialled.includes(':') ? `[${dialled}]` : dialled}:${port}`;
}

export interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** @throws Refusal when a file cannot be read */
export function readTls(cert: string | undefined, key: string | undefined): TlsFiles | undefined {
  if (cert === undefined || key === undefined) return undefined;
  return { cert: readPem('tls_cert', cert), key: readPem('tls_key', key) };
}

function readPem(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new Refusal('bad_request', `${file} (setting ${setting}) cannot be read (${code}).`, { cause });
  }
}
