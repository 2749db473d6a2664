/** Turns what a failed `fetch` throws into an error with a code and a sentence. */
import { ApiError } from './api-error.ts';

/** Reads the system codes along the `cause` chain and inside aggregated errors (one for each address that was tried). */
function systemCodes(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 8) return [];
  const { code } = error as { code?: unknown };
  // Node's parser errors carry no code: their name stands for it.
  const own = typeof code === 'string' ? [code] : error.name === 'HTTPParserError' ? ['HPE_INVALID'] : [];
  const inner = error instanceof AggregateError ? error.errors.flatMap((each) => systemCodes(each, depth + 1)) : [];
  return [...own, ...inner, ...systemCodes(error.cause, depth + 1)];
}

const CERTIFICATE_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired. Renew it on the server',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet. Check the clock of this machine and of the server',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is signed by itself. Set NODE_EXTRA_CA_CERTS to a file with that certificate to trust it',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its certificate comes from an authority that this machine does not know. Set NODE_EXTRA_CA_CERTS to a file with the certificate of that authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the chain of its certificate is not whole. Make the server send the intermediate certificates, or set NODE_EXTRA_CA_CERTS to a file with them',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate comes from an authority that this machine does not know. Set NODE_EXTRA_CA_CERTS to a file with the certificate of that authority',
  UNABLE_TO_GET_ISSUER_CERT:
    'its certificate comes from an authority that this machine does not know. Set NODE_EXTRA_CA_CERTS to a file with the certificate of that authority',
  CERT_REVOKED: 'its certificate has been revoked. Replace it on the server',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for another host name. Use the name that the certificate is for in api_base_url',
  EPROTO:
    'the server does not speak TLS there. Check whether api_base_url should begin with http:// or has the wrong port',
};

function isTlsCode(code: string): boolean {
  return code in CERTIFICATE_PROBLEMS || /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|HOSTNAME_MISMATCH)/.test(code);
}

/** Nothing was sent when one of these comes: the request can be repeated without asking. */
const NEVER_SENT: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no address is known for that host name. Check api_base_url',
  EAI_AGAIN: 'the host name could not be looked up. Check the network and api_base_url',
  ECONNREFUSED: 'nothing answers there (connection refused). Check that the service runs, and api_base_url',
  EHOSTUNREACH: 'there is no route to that host. Check the network and api_base_url',
  ENETUNREACH: 'the network cannot be reached. Check the network',
  EADDRNOTAVAIL: 'the address is not usable from this machine. Check api_base_url',
  UND_ERR_CONNECT_TIMEOUT: 'no connection was made in time. Check the network, a firewall and api_base_url',
  ETIMEDOUT: 'no connection was made in time. Check the network, a firewall and api_base_url',
};

const TOO_SLOW = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ESOCKETTIMEDOUT']);

/** `target` is the origin of the request; `where` tells whether the answer had begun. */
export function transportFailure(error: unknown, target: string, where: 'asking' | 'answer'): ApiError {
  const codes = systemCodes(error);
  const name = error instanceof Error ? error.name : '';
  const tls = codes.find(isTlsCode);
  if (tls !== undefined) {
    const problem =
      CERTIFICATE_PROBLEMS[tls] ??
      `the TLS handshake failed (${tls}). Check api_base_url and the certificate of the server`;
    return new ApiError('tls', `No secure connection to ${target}: ${problem}.`);
  }
  const unsent = codes.find((code) => code in NEVER_SENT);
  if (unsent !== undefined && where === 'asking') {
    return new ApiError('unreachable', `Cannot reach ${target}: ${NEVER_SENT[unsent]}.`, { retryable: true });
  }
  if (name === 'TimeoutError' || codes.some((code) => TOO_SLOW.has(code))) {
    return new ApiError('timeout', `${target} took too long to answer.`, { retryable: true, ambiguous: true });
  }
  if (name === 'AbortError') return new ApiError('cancelled', 'The request was cancelled.', { ambiguous: true });
  const hint = codes.some((code) => code.startsWith('HPE_')) ? ' What came back was not HTTP: check api_base_url.' : '';
  const kind = codes[0] === undefined ? '' : ` (${codes[0]})`;
  return new ApiError('cut', `The connection to ${target} broke before the answer was complete${kind}.${hint}`, {
    retryable: hint === '',
    ambiguous: true,
  });
}
