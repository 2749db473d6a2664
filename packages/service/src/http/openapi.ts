/** OpenAPI 3.1 of the API, made from the schemas that check the requests. */
import swagger from '@fastify/swagger';
import * as wire from '@obsiac/api';
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { VERSION } from '../version.ts';
import type { Api } from './api.ts';

/** Schemas that get a name of their own under `components`. */
const NAMED = {
  AlertRule: wire.alertRule,
  AlertRuleDocument: wire.alertRuleDocument,
  AuditEntry: wire.auditEntry,
  ChannelDocument: wire.channelDocument,
  ChannelRow: wire.channelRow,
  DataSource: wire.dataSource,
  DataSourceDocument: wire.dataSourceDocument,
  Entity: wire.entity,
  EntityDocument: wire.entityDocument,
  EntitySearch: wire.entitySearch,
  Error: wire.errorBody,
  Kpi: wire.kpi,
  KpiDocument: wire.kpiDocument,
  Metadata: wire.metadata,
  MetadataDocument: wire.metadataDocument,
  Organization: wire.organization,
} as const;

const DESCRIPTION = `Alert managers, their indicators and alert rules, notification channels and data sources as code.

Exchange a refresh token at \`/api/v4/oauth/access_token\`, then send the access token as
\`X-LAST9-API-TOKEN: Bearer <token>\` or \`Authorization: Bearer <token>\`. Reading needs a token of scope read or write,
POST and PUT one of scope write, DELETE one of scope delete. A refusal is \`{"error", "code", "details"}\`.
Members that a schema does not know are ignored.`;

export async function describeApi(app: Api): Promise<void> {
  const schemaRegistry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) schemaRegistry.add(schema, { id });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Obsiac API',
        version: VERSION,
        description: DESCRIPTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      security: [{ accessToken: [] }, { bearer: [] }],
      components: {
        securitySchemes: {
          accessToken: {
            type: 'apiKey',
            in: 'header',
            name: 'X-LAST9-API-TOKEN',
            description: '`Bearer <access token>`',
          },
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        },
      },
    },
    transform: createJsonSchemaTransform({ schemaRegistry }),
    transformObject: createJsonSchemaTransformObject({ schemaRegistry }),
  });
  app.get('/api/v4/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}
