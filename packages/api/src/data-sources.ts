/** Data sources on the wire: where the evaluator sends its PromQL. */
import { z } from 'zod';

export const DATA_SOURCE_FLAVOURS = ['embedded', 'prometheus', 'victoriametrics', 'thanos', 'mimir', 'logs'] as const;

export const dataSourceProperties = z.looseObject({
  username: z.string().max(1024).optional(),
  /** A secret: given back only masked. */
  password: z.string().max(8192).optional(),
  /** A secret: given back only masked. */
  bearer_token: z.string().max(8192).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  flavour: z.enum(DATA_SOURCE_FLAVOURS).optional(),
});

/** Body of `POST` and `PUT /datasources[/{id}]`. */
export const dataSourceDocument = z.object({
  name: z.string().min(1).max(1024),
  url: z.string().max(4096),
  is_default: z.boolean().default(false),
  properties: dataSourceProperties.nullish(),
});
export type DataSourceDocument = z.input<typeof dataSourceDocument>;

/** Body of `PUT /datasources/{id}`: a missing `is_default` leaves it as it is. */
export const dataSourceUpdate = dataSourceDocument.extend({ is_default: z.boolean().optional() });
export type DataSourceUpdate = z.infer<typeof dataSourceUpdate>;

export const dataSource = z.object({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  is_default: z.boolean(),
  properties: dataSourceProperties,
  created_at: z.int(),
  updated_at: z.int(),
});
export type DataSource = z.infer<typeof dataSource>;

/** `GET /datasources`: a bare array. */
export const dataSourceList = z.array(dataSource);
