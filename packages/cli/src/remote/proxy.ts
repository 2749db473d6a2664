/** Which proxy the environment asks for, as curl and Go's HTTP client read it. */
import { isIPv4 } from 'node:net';
import { EXIT } from '../exit-code.ts';
import { Failure } from '../failure.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface HttpProxy {
  /** With user name and password, where the variable has them: never shown. */
  readonly url: string;
  /** The address without them. */
  readonly shown: string;
  /** The variable that names it. */
  readonly variable: string;
}

/**
 * `https_proxy` or `http_proxy`, after the scheme of `target`, in small or capital letters. Null: none is set, `no_proxy`
 * has the host, or it is this machine. Throws a `Failure` when the variable holds no address of an HTTP proxy.
 */
export function proxyFor(target: string, env: Environment): HttpProxy | null {
  const url = new URL(target);
  const lower = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const variable = [lower, lower.toUpperCase()].find((name) => (env[name] ?? '') !== '');
  if (variable === undefined) return null;
  const without = env['no_proxy'] ?? env['NO_PROXY'] ?? '';
  if (isThisMachine(url.hostname) || isExcepted(url, without)) return null;
  return readProxy(variable, env[variable]!);
}

function readProxy(variable: string, value: string): HttpProxy {
  // A proxy is often given as host:port alone.
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    throw new Failure(EXIT.invalid, {
      code: 'proxy_invalid',
      summary: `${variable} names no HTTP proxy`,
      detail: `Set ${variable} to an address such as http://proxy.example.com:3128, or unset it. Hosts that need no proxy stand in NO_PROXY.`,
    });
  }
  return { url: text, shown: `${url.protocol}//${url.host}`, variable };
}

function isThisMachine(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    (isIPv4(hostname) && hostname.startsWith('127.'))
  );
}

/** `list`: hosts, each for its subdomains too, with an optional port, or `*` for all. */
function isExcepted({ hostname, host, port, protocol }: URL, list: string): boolean {
  const hostAndPort = port === '' ? `${host}:${protocol === 'https:' ? 443 : 80}` : host;
  return list
    .toLowerCase()
    .split(/[,\s]+/)
    .map((entry) => entry.replace(/^\*?\./, ''))
    .some((entry) => {
      if (entry === '') return false;
      if (entry === '*' || entry === hostname || entry === hostAndPort || `[${entry}]` === hostname) return true;
      return hostname.endsWith(`.${entry}`) || hostAndPort.endsWith(`.${entry}`);
    });
}
