/** Who asks: reads the access token of a request, and holds it against organisation and scope. */
import type { Scope } from '@obsiac/api';
import type { FastifyRequest } from 'fastify';
import { findStanding } from '../metadata/refresh-tokens.ts';
import { guarded, type Store } from '../metadata/store.ts';
import { Refusal } from '../refusal.ts';
import type { AccessTokens } from '../tokens/access-tokens.ts';

export interface Identity {
  readonly organizationId: string;
  readonly slug: string;
  readonly tokenId: string;
  readonly tokenName: string;
  /** The organisation's revision when the request came; after a write, the one it made. */
  revision: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every route below an organisation, once its access token has been accepted. */
    identity: Identity | null;
  }
  interface FastifyContextConfig {
    /** The scopes that may call this route; one is enough. */
    scopes?: readonly Scope[];
  }
}

/**
 * The token's revocation is read from the store on every request, so that it holds at once in every process.
 * @throws Refusal 400 `invalid_access_token`, 401, 403 `scope_too_low`, 404 `unknown_organization`
 */
export async function authenticate(store: Store, tokens: AccessTokens, request: FastifyRequest): Promise<Identity> {
  const grant = await tokens.verify(accessTokenOf(request));
  const standing = await guarded(store, () => findStanding(store.db, grant.tokenId));
  if (!standing) throw new Refusal('token_invalid', 'The refresh token behind this access token does not exist.');
  if (standing.revoked_at !== null) {
    throw new Refusal('token_revoked', `The token "${standing.name}" has been revoked.`);
  }
  const { org } = request.params as { org: string };
  if (org !== standing.slug) {
    throw new Refusal('unknown_organization', `There is no organisation "${org}" for this token.`);
  }
  requireScope(request, standing.scope);
  return {
    organizationId: standing.organization_id,
    slug: standing.slug,
    tokenId: grant.tokenId,
    tokenName: standing.name,
    revision: standing.revision,
  };
}

/** The identity that `authenticate` has put on the request. */
export function identityOf(request: FastifyRequest): Identity {
  if (!request.identity) throw new Error('This route does not authenticate');
  return request.identity;
}

function requireScope(request: FastifyRequest, scope: Scope): void {
  const needed = request.routeOptions.config.scopes ?? [];
  if (needed.includes(scope)) return;
  throw new Refusal(
    'scope_too_low',
    `This request needs a token with the scope ${needed.join(' or ')}; this one has ${scope}.`,
  );
}

function accessTokenOf(request: FastifyRequest): string {
  const own = request.headers['x-last9-api-token'];
  if (own !== undefined) {
    const token = bearerOf(String(own));
    if (token === undefined) throw new Refusal('invalid_access_token', 'invalid access token');
    return token;
  }
  const token = bearerOf(request.headers.authorization ?? '');
  if (token !== undefined) return token;
  throw new Refusal(
    'no_credentials',
    'Send an access token in the header X-LAST9-API-TOKEN (or Authorization), as "Bearer <token>".',
  );
}

function bearerOf(header: string): string | undefined {
  return /^bearer +(\S+)\s*$/i.exec(header)?.[1];
}
