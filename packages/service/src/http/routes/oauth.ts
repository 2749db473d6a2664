/** Token exchange: a refresh token for an access token. */
import { accessTokenRequest, accessTokenResponse } from '@obsiac/api';
import { findByToken, touch } from '../../metadata/refresh-tokens.ts';
import { guarded } from '../../metadata/store.ts';
import { Refusal } from '../../refusal.ts';
import { type Api, type Context, withErrors } from '../api.ts';

export function oauthRoutes(app: Api, { store, tokens }: Context): void {
  app.post(
    '/api/v4/oauth/access_token',
    {
      schema: {
        tags: ['Tokens'],
        summary: 'Exchange a refresh token for an access token',
        description: 'The refresh token is not rotated. The access token lives an hour; trust `expires_at`.',
        security: [],
        body: accessTokenRequest,
        response: withErrors(accessTokenResponse, [
          'bad_request',
          'invalid_refresh_token',
          'token_revoked',
          'body_too_large',
          'unsupported_media_type',
          'rate_limited',
          'internal',
          'unavailable',
        ]),
      },
    },
    async (request) => {
      const refreshToken = request.body.refresh_token;
      const found = await guarded(store, () => findByToken(store.db, refreshToken));
      if (!found) {
        throw new Refusal('invalid_refresh_token', 'invalid refresh token: this service has not issued it');
      }
      if (found.revoked_at !== null) {
        throw new Refusal('token_revoked', 'invalid refresh token: it has been revoked');
      }
      const grant = { tokenId: found.id, slug: found.slug, scopes: [found.scope] };
      const issued = await tokens.issue(grant, request.hostname);
      await guarded(store, () => touch(store.db, found.id, issued.issuedAt));
      return {
        access_token: issued.accessToken,
        refresh_token: refreshToken,
        expires_at: issued.expiresAt,
        issued_at: issued.issuedAt,
        type: 'Bearer' as const,
        scopes: grant.scopes,
      };
    },
  );
}
