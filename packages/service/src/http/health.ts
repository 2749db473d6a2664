/** Whether the process lives, and whether it can serve. */
import { sql } from 'kysely';
import { guarded } from '../metadata/store.ts';
import type { Api, Context } from './api.ts';

export function healthRoutes(app: Api, { store }: Context): void {
  app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }));
  app.get('/readyz', { schema: { hide: true } }, async () => {
    await guarded(store, () => sql`select 1`.execute(store.db));
    return { status: 'ready' };
  });
}
