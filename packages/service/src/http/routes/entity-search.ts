/** Two POST routes that change nothing, so a read token may call them: the entity search and the rule conversion. */

import { setImmediate as breathe } from 'node:timers/promises';
import { entitySearch, entitySearchResult } from '@obsiac/api';
import { z } from 'zod';
import { type FoundEntity, searchPage } from '../../metadata/entity-search.ts';
import { guarded } from '../../metadata/store.ts';
import { convertRules } from '../../prometheus-rules/convert.ts';
import { type Api, type Context, READ, reads } from '../api.ts';
import { identityOf } from '../authentication.ts';

const tags = ['Entities'];
const PAGE = 500;

export function entitySearchRoutes(app: Api, { store }: Context): void {
  app.post(
    '/entities/list',
    {
      config: READ,
      schema: {
        tags,
        summary: 'Search entities',
        description:
          'Filters are taken from left to right, each joined to the one before by its `conjunction` (`and` unless it says `or`). Answers with one group.',
        body: entitySearch,
        response: reads(entitySearchResult, 'bad_request', 'body_too_large', 'unsupported_media_type'),
      },
    },
    async (request) => {
      const { organizationId } = identityOf(request);
      const entities: FoundEntity[] = [];
      for (let after: string | undefined = ''; after !== undefined; await breathe()) {
        const from: string = after;
        const page = await guarded(store, () =>
          searchPage(store.db, organizationId, request.body.filters ?? [], from, PAGE),
        );
        entities.push(...page.found);
        after = page.last;
      }
      return [{ entities }];
    },
  );
}

/** The body is YAML whatever its content type says: known clients send `application/json`. */
export function ruleConversionRoute(app: Api): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.post(
    '/entities/migrate/alertmanager',
    {
      config: READ,
      schema: {
        tags,
        summary: 'Convert Prometheus alerting rules to a model',
        description:
          'Takes a Prometheus rule file and answers with a model file, one entity to a group. Changes nothing.',
        consumes: ['application/yaml'],
        body: z.string('a Prometheus rule file is needed'),
        response: {
          ...reads(z.string(), 'bad_request', 'body_too_large'),
          200: { description: 'A model file', content: { 'application/yaml': { schema: z.string() } } },
        },
      },
    },
    async (request, reply) => reply.type('application/yaml; charset=utf-8').send(convertRules(request.body)),
  );
}
