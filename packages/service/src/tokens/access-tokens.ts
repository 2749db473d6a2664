/** Access tokens: signed, an hour long, carrying organisation and scope. */
import type { Scope } from '@obsiac/api';
import { errors, jwtVerify, SignJWT } from 'jose';
import { newId } from '../metadata/ids.ts';
import { Refusal } from '../refusal.ts';

/** Seconds. */
const ACCESS_TOKEN_LIFETIME = 3600;

/** Verified tokens remembered, so that a client's hundred requests cost one signature check. */
const REMEMBERED = 1000;

interface Grant {
  /** Id of the refresh token it comes from. */
  readonly tokenId: string;
  readonly slug: string;
  readonly scopes: readonly Scope[];
}

interface IssuedToken {
  readonly accessToken: string;
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Unix seconds. */
  readonly expiresAt: number;
}

export interface AccessTokens {
  /** @param audience the API's host, as clients of the hosted service expect it in `aud` */
  issue(grant: Grant, audience: string): Promise<IssuedToken>;
  /** @throws Refusal `token_expired`, `token_invalid` */
  verify(token: string): Promise<Grant>;
}

interface Remembered {
  readonly grant: Grant;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/**
 * @param key signs and verifies (HS256)
 * @param now unix milliseconds
 */
export function createAccessTokens(key: Uint8Array, now: () => number): AccessTokens {
  const remembered = new Map<string, Remembered>();
  return {
    issue: async (grant, audience) => {
      const issuedAt = Math.floor(now() / 1000);
      const expiresAt = issuedAt + ACCESS_TOKEN_LIFETIME;
      const accessToken = await new SignJWT({ organization_slug: grant.slug, scopes: grant.scopes })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(grant.tokenId)
        .setJti(newId())
        .setAudience([audience])
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key);
      return { accessToken, issuedAt, expiresAt };
    },
    verify: async (token) => {
      const known = remembered.get(token) ?? (await check(token, key, now()));
      if (known.expiresAt * 1000 <= now()) {
        remembered.delete(token);
        throw expired();
      }
      if (remembered.size >= REMEMBERED) remembered.clear();
      remembered.set(token, known);
      return known.grant;
    },
  };
}

async function check(token: string, key: Uint8Array, now: number): Promise<Remembered> {
  try {
    const { payload } = await jwtVerify<{ organization_slug: string; scopes: Scope[] }>(token, key, {
      algorithms: ['HS256'],
      currentDate: new Date(now),
      requiredClaims: ['sub', 'exp', 'organization_slug', 'scopes'],
    });
    const grant = { tokenId: payload.sub!, slug: payload.organization_slug, scopes: payload.scopes };
    return { grant, expiresAt: payload.exp! };
  } catch (cause) {
    if (cause instanceof errors.JWTExpired) throw expired();
    throw new Refusal(
      'token_invalid',
      'The access token is not one of this service; exchange the refresh token again.',
      {
        cause,
      },
    );
  }
}

function expired(): Refusal {
  return new Refusal('token_expired', 'Authorization token is expired');
}
