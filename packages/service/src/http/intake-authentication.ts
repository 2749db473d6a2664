/** Who delivers: holds the Basic credentials of a batch against those of the organisations. */
import type { FastifyRequest } from 'fastify';
import { basicCredentials } from '../intake/authorization.ts';
import { findByPassword, touchIntakeCredential } from '../metadata/intake-credentials.ts';
import { guarded, type Store } from '../metadata/store.ts';
import { Refusal } from '../refusal.ts';

/** The id of the organisation. @throws Refusal 401 `no_credentials`, `wrong_credentials` */
export type IntakeAuthentication = (request: FastifyRequest) => Promise<string>;

/** Seconds between two notes of a credential's use. */
const NOTED_EVERY = 60;

/** Revocation is read from the store with each batch, so that it holds at once in every process. */
export function createIntakeAuthentication(store: Store): IntakeAuthentication {
  const noted = new Map<string, number>();
  return async (request) => {
    const given = basicCredentials(request.headers.authorization, request.url);
    if (given === undefined) {
      throw new Refusal(
        'no_credentials',
        'Send Basic authorization: in the header Authorization, or in the address as header_Authorization.',
      );
    }
    const found = await guarded(store, () => findByPassword(store.db, given.username, given.password));
    if (found === undefined) throw new Refusal('wrong_credentials', 'User name or password is wrong or revoked.');
    const now = Math.floor(store.now() / 1000);
    if (now - (noted.get(found.id) ?? 0) >= NOTED_EVERY) {
      noted.set(found.id, now);
      // Only a note: a batch must not wait for it, nor fail with it.
      touchIntakeCredential(store.db, found.id, now).catch((error: unknown) => {
        request.log.warn({ err: error }, 'the use of an intake credential could not be noted');
      });
    }
    return found.organizationId;
  };
}
