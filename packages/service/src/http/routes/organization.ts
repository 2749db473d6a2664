/** The organisation itself, with its revision. */
import { organization } from '@obsiac/api';
import { findOrganization } from '../../metadata/organizations.ts';
import { guarded } from '../../metadata/store.ts';
import { Refusal } from '../../refusal.ts';
import { type Api, type Context, READ, reads } from '../api.ts';
import { identityOf } from '../authentication.ts';

export function organizationRoutes(app: Api, { store }: Context): void {
  app.get(
    '/',
    {
      config: READ,
      schema: {
        tags: ['Organisation'],
        summary: 'Read the organisation and its revision',
        description:
          'Every write moves the revision. Every answer carries it as `ETag`; a write may send it as `If-Match`.',
        response: reads(organization),
      },
    },
    async (request) => {
      const { slug } = identityOf(request);
      const found = await guarded(store, () => findOrganization(store.db, slug));
      if (!found) throw new Refusal('unknown_organization', `There is no organisation "${slug}".`);
      identityOf(request).revision = found.revision;
      return found;
    },
  );
}
