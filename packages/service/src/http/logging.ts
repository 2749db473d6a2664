/** One log line for each answered request, without anything secret: no query string, no header, no body. */
import type { Api } from './api.ts';

export function logRequests(app: Api): void {
  app.addHook('onResponse', async (request, reply) => {
    const line = {
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ...(request.identity ? { org: request.identity.slug, token: request.identity.tokenName } : {}),
    };
    if (reply.statusCode >= 500) request.log.warn(line, 'request');
    else request.log.info(line, 'request');
  });
}
