/** Where logs are delivered: `/cloudflare` for lines of JSON, `/v1/logs` for OTLP. */
import type { Intake } from '../../intake/intake.ts';
import type { Store } from '../../metadata/store.ts';
import { Refusal } from '../../refusal.ts';
import type { Api } from '../api.ts';
import { handleError } from '../errors.ts';
import { incoming, requireReadableEncoding } from '../incoming-batch.ts';
import { createIntakeAuthentication, type IntakeAuthentication } from '../intake-authentication.ts';
import { discardBody } from '../refused-body.ts';
import { otlpRoute } from './otlp.ts';

export interface IntakeContext {
  readonly store: Store;
  readonly intake: Intake;
}

/** Registers both routes, in a scope of their own: bodies are read as they come, whatever their content type. */
export async function intakeRoutes(app: Api, { store, intake }: IntakeContext): Promise<void> {
  const authenticate = createIntakeAuthentication(store);
  await app.register((scope, _options, done) => {
    const inner = scope as unknown as Api;
    inner.removeAllContentTypeParsers();
    inner.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    inner.decorateRequest('deliveredAs', '');
    inner.addHook('onRequest', async (request) => {
      request.deliveredAs = request.headers['content-type'] ?? '';
      // A content type that no parser understands must not be a reason to refuse.
      request.raw.headers['content-type'] = 'application/octet-stream';
    });
    cloudflareRoute(inner, authenticate, intake);
    otlpRoute(inner, authenticate, intake);
    done();
  });
}

function cloudflareRoute(app: Api, authenticate: IntakeAuthentication, intake: Intake): void {
  app.post(
    '/cloudflare',
    {
      schema: { hide: true },
      errorHandler: (error, request, reply) => {
        if (!request.raw.complete) discardBody(request, reply);
        handleError(error, request, reply, 'Basic realm="obsiac"');
      },
    },
    async (request) => {
      const org = await authenticate(request);
      requireReadableEncoding(request);
      return intake.lines(incoming(request, org), datasetOf(request.url));
    },
  );
}

/** `?dataset=http_requests`, or `?tags=…,dataset:http_requests` as in Cloudflare's examples. */
function datasetOf(url: string): string | undefined {
  const question = url.indexOf('?');
  if (question < 0) return undefined;
  const query = new URLSearchParams(url.slice(question + 1));
  const tags = (query.get('tags') ?? '').split(',').map((tag) => tag.trim());
  const tagged = tags.find((tag) => tag.startsWith('dataset:'))?.slice('dataset:'.length);
  const dataset = (query.get('dataset') || tagged || '').trim();
  if (dataset === '') return undefined;
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(dataset)) return dataset;
  throw new Refusal('bad_request', 'The parameter dataset is no name of a dataset: letters, digits, _, - and . only.');
}
