/** The audit trail: who wrote what, and when. */
import { auditList, auditQuery } from '@obsiac/api';
import { listAuditEntries } from '../../metadata/audit.ts';
import { guarded } from '../../metadata/store.ts';
import { type Api, type Context, READ, reads } from '../api.ts';
import { identityOf } from '../authentication.ts';

export function auditTrailRoutes(app: Api, { store }: Context): void {
  app.get(
    '/audit_trail',
    {
      config: READ,
      schema: {
        tags: ['Audit trail'],
        summary: 'Read the audit trail',
        description: 'Newest first; `before_id` pages backwards. Secrets are masked.',
        querystring: auditQuery,
        response: reads(auditList, 'bad_request'),
      },
    },
    async (request) => {
      const { organizationId } = identityOf(request);
      return { entries: await guarded(store, () => listAuditEntries(store.db, organizationId, request.query)) };
    },
  );
}
