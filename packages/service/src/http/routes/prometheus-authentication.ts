/** Who asks or sends metrics by the protocols of Prometheus: tokens where its clients can put them. */
import type { Scope } from '@obsiac/api';
import type { FastifyRequest } from 'fastify';
import { basicCredentials } from '../../intake/authorization.ts';
import { findByToken, findStanding } from '../../metadata/refresh-tokens.ts';
import { guarded, type Store } from '../../metadata/store.ts';
import { Refusal } from '../../refusal.ts';
import type { AccessTokens } from '../../tokens/access-tokens.ts';
import type { Identity } from '../authentication.ts';

/** What every refresh token begins with. */
const REFRESH_TOKEN = /^obs_/;

/**
 * The token of a request: as Bearer, or as the password of Basic credentials with any user name. Both kinds of tokens are taken: clients
 * such as Grafana keep one credential for good, and cannot exchange it every hour. Undefined: there is none.
 */
export function tokenOf(request: FastifyRequest): string | undefined {
  const bearer = /^bearer +(\S+)\s*$/i.exec(request.headers.authorization ?? '')?.[1];
  return bearer ?? basicCredentials(request.headers.authorization, '')?.password;
}

/**
 * The token's revocation is read from the store on every request, so that it holds at once in every process.
 * @throws Refusal 401, 403 `scope_too_low`
 */
export async function identify(
  store: Store,
  tokens: AccessTokens,
  token: string,
  scopes: readonly Scope[],
): Promise<Identity> {
  const tokenId = REFRESH_TOKEN.test(token) ? await refreshTokenId(store, token) : (await tokens.verify(token)).tokenId;
  const standing = await guarded(store, () => findStanding(store.db, tokenId));
  if (!standing) throw new Refusal('token_invalid', 'The refresh token behind this access token does not exist.');
  if (standing.revoked_at !== null) {
    throw new Refusal('token_revoked', `The token "${standing.name}" has been revoked.`);
  }
  if (!scopes.includes(standing.scope)) {
    const needed = scopes.join(' or ');
    throw new Refusal('scope_too_low', `This needs a token with the scope ${needed}; this one has ${standing.scope}.`);
  }
  const { organization_id: organizationId, slug, name: tokenName, revision } = standing;
  return { organizationId, slug, tokenId, tokenName, revision };
}

async function refreshTokenId(store: Store, token: string): Promise<string> {
  const found = await guarded(store, () => findByToken(store.db, token));
  if (!found) throw new Refusal('token_invalid', 'This refresh token is none of this service.');
  return found.id;
}
