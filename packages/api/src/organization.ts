/** The organisation itself: its slug and its revision, which every write moves. */
import { z } from 'zod';

/** `GET /organizations/{org}`. Every answer also carries the revision as `ETag: "<revision>"`; a write may send it as `If-Match`. */
export const organization = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  revision: z.int(),
  created_at: z.int(),
});
export type Organization = z.infer<typeof organization>;
