/** Token exchange and token management: refresh tokens have one scope each, access tokens live an hour. */
import { z } from 'zod';

export const SCOPES = ['read', 'write', 'delete'] as const;
export const scope = z.enum(SCOPES);
export type Scope = z.infer<typeof scope>;

/** `POST /api/v4/oauth/access_token`. Some clients also send `grant_type`; it is accepted and not needed. */
export const accessTokenRequest = z.object({
  refresh_token: z.string().min(1).max(4096),
  grant_type: z.string().max(64).optional(),
});

export const accessTokenResponse = z.object({
  access_token: z.string(),
  /** The same refresh token: it is not rotated. */
  refresh_token: z.string(),
  /** Unix seconds. */
  expires_at: z.int(),
  /** Unix seconds. */
  issued_at: z.int(),
  type: z.literal('Bearer'),
  scopes: z.array(scope),
});
export type AccessTokenResponse = z.infer<typeof accessTokenResponse>;
