/** Data sources on the wire: where the evaluator sends its PromQL. */
import { z } from 'zod';

export const DATA_SOURCE_FLAVOURS = ['embedded', 'prometheus', 'victoriametrics', 'thanos', 'mimir', 'logs'] as const;

/** Longest certificate chain or key in characters. */
const PEM = z.string().max(262_144);

/** How the connection to an `https://` address is secured. */
const dataSourceTls = z.looseObject({
  /** PEM: the authorities to trust instead of the system's. */
  ca_cert: PEM.optional(),
  /** PEM, together with `client_key`. */
  client_cert: PEM.optional(),
  /** PEM. A secret: given back only masked. */
  client_key: PEM.optional(),
  /** The name to ask for and to find in the certificate, when it is not the host of the address. */
  server_name: z.string().max(253).optional(),
  insecure_skip_verify: z.boolean().optional(),
});

export const dataSourceProperties = z.looseObject({
  username: z.string().max(1024).optional(),
  /** A secret: given back only masked. */
  password: z.string().max(8192).optional(),
  /** A secret: given back only masked. */
  bearer_token: z.string().max(8192).optional(),
  /** Sent with each query. Values are secrets: given back only masked. */
  headers: z.record(z.string(), z.string()).optional(),
  flavour: z.enum(DATA_SOURCE_FLAVOURS).optional(),
  tls: dataSourceTls.optional(),
  /** Seconds that one query may take; 15 unless told. */
  timeout_seconds: z.number().min(1).max(300).optional(),
  /** Queries at a time; 8 unless told. */
  concurrency: z.int().min(1).max(32).optional(),
  /** Seconds that samples need to arrive; 60 unless told, 30 for VictoriaMetrics. */
  evaluation_delay_seconds: z.int().min(0).max(3600).optional(),
});

/** Body of `POST` and `PUT /datasources[/{id}]`. */
export const dataSourceDocument = z.object({
  name: z.string().min(1).max(1024),
  url: z.string().max(4096),
  is_default: z.boolean().default(false),
  properties: dataSourceProperties.nullish(),
});
export type DataSourceProperties = z.output<typeof dataSourceProperties>;
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
