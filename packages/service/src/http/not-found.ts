/** Answers for paths that no route has, and for methods that a path does not have. */
import { Refusal } from '../refusal.ts';
import type { Api } from './api.ts';

export function answerUnknownRoutes(app: Api): void {
  const methodsByPath = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    const entry = methodsByPath.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() };
    for (const name of [method].flat()) entry.methods.add(name);
    methodsByPath.set(url, entry);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]!;
    // Routes are found with repeated slashes too.
    const single = path.replace(/\/{2,}/g, '/');
    const matching = [...methodsByPath.values()].filter(({ pattern }) => pattern.test(single));
    const allowed = [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
    if (allowed.length === 0) {
      throw new Refusal('not_found', `There is no ${path} here. The API is described at /api/v4/openapi.json.`);
    }
    void reply.header('allow', allowed.join(', '));
    throw new Refusal('method_not_allowed', `${path} does not take ${request.method}, only ${allowed.join(', ')}.`);
  });
}

function patternOf(url: string): RegExp {
  const plain = (part: string) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : plain(part)));
  return new RegExp(`^${parts.join('/')}/?$`);
}
