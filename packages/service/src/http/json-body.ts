/** Reads JSON bodies as clients really send them, and refuses the few texts that no store can keep. */
import { Refusal, refuseField } from '../refusal.ts';
import type { Api } from './api.ts';

/** Clients send `Content-Type: application/json` with a DELETE that has no body: that is no malformed JSON. */
export function readJson(app: Api): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    void parse(request, body as string, (error, value) => {
      if (error) return done(error);
      try {
        // Both kinds of bad text can only come as escapes, which few bodies have.
        if (/\\u(0000|d[89a-f])/i.test(body as string)) requireStorable(value, 'body');
        done(null, value);
      } catch (refusal) {
        done(refusal as Refusal);
      }
    });
  });
}

/** PostgreSQL keeps no NUL character and neither store keeps half a surrogate pair. */
function requireStorable(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed()) {
      throw refuseField(path, 'holds a NUL character or half a surrogate pair, which cannot be stored');
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      requireStorable(key, path);
      requireStorable(member, `${path}.${key}`);
    }
  }
}

export function requireStorablePath(url: string): void {
  if (url.includes('%00')) throw new Refusal('bad_request', 'The address holds a NUL character.');
}
