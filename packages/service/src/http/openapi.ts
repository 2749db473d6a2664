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
  LogRecord: wire.logRecord,
  Metadata: wire.metadata,
  MetadataDocument: wire.metadataDocument,
  Notification: wire.notification,
  Organization: wire.organization,
} as const;

const DESCRIPTION = `Alert managers, their indicators and alert rules, notification channels and data sources as code.

Exchange a refresh token at \`/api/v4/oauth/access_token\`, then send the access token as
\`X-LAST9-API-TOKEN: Bearer <token>\` or \`Authorization: Bearer <token>\`. Reading needs a token of scope read or write,
POST and PUT one of scope write, DELETE one of scope delete. A refusal is \`{"error", "code", "details"}\`.
Members that a schema does not know are ignored. A write that sends \`X-Obsiac-Client: dashboard\` is a person's edit in
the dashboard: it is refused for entities with \`ui_readonly\`.`;

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
    transform: (route) => {
      const transformed = createJsonSchemaTransform({ schemaRegistry })(route);
      const { schema } = transformed;
      return schema?.summary
        ? { ...transformed, schema: { ...schema, operationId: operationIdOf(schema.summary) } }
        : transformed;
    },
    transformObject: createJsonSchemaTransformObject({ schemaRegistry }),
  });
  let text: string | undefined;
  app.get('/api/v4/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    text ??= tidy(JSON.stringify(app.swagger()));
    return reply.type('application/json; charset=utf-8').send(text);
  });
}

/** `Create an entity` is `createEntity`. */
function operationIdOf(summary: string): string {
  const words = summary
    .replace(/[^A-Za-z ]/g, '')
    .split(' ')
    .filter((word) => !/^(an?|the|its|of|for|to|by)$/i.test(word));
  return words
    .map((word, index) => (index === 0 ? word.toLowerCase() : word[0]!.toUpperCase() + word.slice(1).toLowerCase()))
    .join('');
}

/** Every schema is made twice, for requests and for answers: keeps what is used, and one name where one is enough. */
function tidy(text: string): string {
  const used = (name: string) => text.includes(`"#/components/schemas/${name}"`);
  const document = JSON.parse(text) as { components: { schemas: Record<string, unknown> } };
  const { schemas } = document.components;
  const renamed: [from: string, to: string][] = [];
  for (const name of Object.keys(schemas)) {
    if (!used(name)) {
      delete schemas[name];
      continue;
    }
    const plain = name.replace(/Input$/, '');
    if (plain !== name && !used(plain)) renamed.push([name, plain]);
  }
  for (const [from, to] of renamed) {
    schemas[to] = schemas[from];
    delete schemas[from];
  }
  return renamed.reduce(
    (result, [from, to]) => result.replaceAll(`"#/components/schemas/${from}"`, `"#/components/schemas/${to}"`),
    JSON.stringify(document),
  );
}
