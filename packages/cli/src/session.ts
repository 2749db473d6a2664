/** A connection to the service of a config, for the time of one command. */
import { ApiError, type Client, createClient } from '@obsiac/api';
import type { Config } from '@obsiac/model';
import { openHttp } from './remote/http.ts';
import { type HttpProxy, proxyFor } from './remote/proxy.ts';
import { VERSION } from './version.ts';

export interface Session {
  readonly client: Client;
}

export const DEFAULT_CONCURRENCY = 16;

/**
 * Runs `work` with a connection and closes it afterwards. Tokens of a scope are looked at when a request first needs them.
 * @param answerTimeoutMs how long an answer may keep silent; undefined: half a minute
 */
export async function withSession<Result>(
  config: Config,
  concurrency: number,
  work: (session: Session) => Promise<Result>,
  answerTimeoutMs?: number,
): Promise<Result> {
  const proxy = proxyFor(config.api_base_url, process.env);
  const http = openHttp({
    connections: concurrency,
    ...(answerTimeoutMs !== undefined && { answerTimeoutMs }),
    ...(proxy !== null && { proxy: proxy.url }),
  });
  try {
    const client = createClient({
      fetch: http.fetch,
      credential: (scope) => ({
        refresh_token: config.refresh_tokens[scope],
        api_base_url: config.api_base_url,
        org: config.org,
      }),
      userAgent: `obsiac/${VERSION}`,
    });
    return await work({ client });
  } catch (error) {
    throw proxy === null ? error : withProxy(error, proxy);
  } finally {
    await http.close();
  }
}

/** The way to the service leads through the proxy, so it may be what is wrong. */
function withProxy(error: unknown, { shown, variable }: HttpProxy): unknown {
  if (!(error instanceof ApiError) || error.status !== 0 || error.code === 'cancelled') return error;
  return new ApiError(
    error.code,
    `${error.message} The way there is the proxy ${shown}, which ${variable} names.`,
    error,
  );
}
