/** The audit trail: every write with who, when, before and after. Secrets are masked before they get here. */
import { z } from 'zod';

export const auditEntry = z.object({
  id: z.int(),
  /** Unix seconds. */
  at: z.int(),
  /** The name of the token that wrote. */
  actor: z.string(),
  action: z.enum(['create', 'update', 'delete', 'attach', 'detach', 'snooze', 'revoke', 'resend', 'test']),
  kind: z.enum([
    'entity',
    'metadata',
    'kpi',
    'alert_rule',
    'notification_setting',
    'data_source',
    'token',
    'intake_credential',
    'notification',
  ]),
  object_id: z.string(),
  object_name: z.string(),
  /** The organisation's revision after this write. */
  revision: z.int(),
  before: z.unknown(),
  after: z.unknown(),
});
export type AuditEntry = z.infer<typeof auditEntry>;

/** `GET /audit_trail`: newest first; `before_id` pages backwards. */
export const auditQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  before_id: z.coerce.number().int().positive().optional(),
  object_id: z.string().optional(),
  kind: auditEntry.shape.kind.optional(),
});
export const auditList = z.object({ entries: z.array(auditEntry) });
