/** Indicators on the wire, where they are called KPIs. */
import { z } from 'zod';

export const kpiDefinition = z.object({
  query: z.string().min(1).max(65_536),
  source: z.string().max(1024).optional(),
  unit: z.string().max(1024).optional(),
  /** Overrides the entity's data source. */
  data_source: z.string().max(1024).optional(),
});

/** Body of `POST` and `PUT /entities/{entity}/kpis[/{kpi}]`. */
export const kpiDocument = z.object({
  name: z.string().min(1).max(1024),
  definition: kpiDefinition,
  kpi_type: z.string().max(256).optional(),
  description: z.string().max(65_536).optional(),
});
export type KpiDocument = z.infer<typeof kpiDocument>;

export const kpi = kpiDocument.extend({
  id: z.string(),
  organization_id: z.string(),
  entity_id: z.string(),
  created_at: z.int(),
  updated_at: z.int(),
});
export type Kpi = z.infer<typeof kpi>;

/** `GET /entities/{entity}/kpis`, and `GET /kpis` over the whole organisation: bare arrays. */
export const kpiList = z.array(kpi);
