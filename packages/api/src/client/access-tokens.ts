/** One access token per scope: exchanged when first needed, kept, renewed before it expires. */
import { z } from 'zod';
import type { Scope } from '../tokens.ts';

/** What an exchange gives; `issued_at` and `expires_at` in unix seconds of the service's clock. */
export const exchangeAnswer = z.object({
  access_token: z.string().min(1),
  expires_at: z.number(),
  issued_at: z.number().nullish(),
});
export type ExchangeAnswer = z.infer<typeof exchangeAnswer>;

export interface AccessTokens {
  /** The token to use now. Requests that ask at the same time share one exchange. */
  get(scope: Scope): Promise<string>;
  /** Drops `token`, if it is still the one that is kept: the service has refused it. */
  forget(scope: Scope, token: string): void;
  /** Every access token seen, so that none gets into a message. */
  seen(): readonly string[];
}

interface Kept {
  readonly token: string;
  /** Milliseconds, of the clock given. */
  readonly renewAt: number;
}

const RENEW_BEFORE_MS = 5 * 60_000;

/** Life time is taken as a difference of the service's own times, so that a wrong clock here does no harm. */
function keep(answer: ExchangeAnswer, now: number): Kept {
  const issued = answer.issued_at == null ? now : answer.issued_at * 1000;
  const life = Math.max(0, answer.expires_at * 1000 - issued);
  return { token: answer.access_token, renewAt: now + life - Math.min(RENEW_BEFORE_MS, life / 2) };
}

export function createAccessTokens(
  exchange: (scope: Scope) => Promise<ExchangeAnswer>,
  now: () => number,
): AccessTokens {
  const kept = new Map<Scope, Kept>();
  const underWay = new Map<Scope, Promise<string>>();
  const seen = new Set<string>();

  const renew = async (scope: Scope): Promise<string> => {
    const answer = await exchange(scope);
    seen.add(answer.access_token);
    kept.set(scope, keep(answer, now()));
    return answer.access_token;
  };

  return {
    get(scope) {
      const held = kept.get(scope);
      if (held !== undefined && now() < held.renewAt) return Promise.resolve(held.token);
      const running = underWay.get(scope);
      if (running !== undefined) return running;
      const started = renew(scope).finally(() => underWay.delete(scope));
      underWay.set(scope, started);
      return started;
    },
    forget(scope, token) {
      if (kept.get(scope)?.token === token) kept.delete(scope);
    },
    seen: () => [...seen],
  };
}
