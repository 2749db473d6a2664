/** Our parser beside a real Prometheus: both take and refuse the same texts, and read the same trees. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Prometheus, prometheusBinary, startPrometheus } from '../../../tasks/prometheus.ts';
import { parse } from '../src/syntax/parser.ts';
import { print } from '../src/syntax/print.ts';
import { expressions } from './arbitrary.ts';
import { CORPUS, DEVIATIONS, INVALID, VALID } from './corpus.ts';
import { gibberish, mutate } from './mutate.ts';
import { Random } from './prometheus/random.ts';
import { normaliseServerTree, serverTree } from './server-tree.ts';

const { binary, reason } = await prometheusBinary();
const SOAK = process.env['OBSIAC_SOAK'] === '1';

describe.skipIf(reason !== undefined)(
  `the parser beside Prometheus 3.5${reason ? ` (skipped, ${reason})` : ''}`,
  () => {
    let server: Prometheus;

    beforeAll(async () => {
      server = await startPrometheus({ binary: binary!.path });
    });

    afterAll(() => server?.stop());

    async function ask(query: string) {
      const { body } = await server.ask('/api/v1/parse_query', { query });
      return body;
    }

    it.each(CORPUS)('agrees on the corpus: $topic', async ({ valid, invalid }) => {
      for (const query of [...valid, ...invalid]) {
        const theirs = await ask(query);
        const ours = parse(query);
        expect({ query, ok: ours.ok, error: theirs.error }).toMatchObject({ ok: theirs.status === 'success' });
        if (ours.ok) {
          expect(serverTree(ours.expr), query).toEqual(normaliseServerTree(theirs.data as never));
        }
      }
    });

    it.each(DEVIATIONS)('still differs on $query: $reason', async ({ query }) => {
      expect((await ask(query)).status).toBe('success');
      expect(parse(query).ok).toBe(false);
    });

    it('reads generated expressions as the server does', { timeout: 600_000 }, async () => {
      const sample = fc.sample(expressions().any, { seed: 20, numRuns: SOAK ? 20_000 : 500 });
      for (const query of sample.map(print)) {
        const ours = parse(query);
        const theirs = await ask(query);
        expect(theirs.status, `${query}: ${theirs.error}`).toBe('success');
        expect(ours.ok && serverTree(ours.expr), query).toEqual(normaliseServerTree(theirs.data as never));
      }
    });

    it('takes and refuses mutated queries as the server does', { timeout: 600_000 }, async () => {
      const random = new Random(4);
      const all = [...VALID, ...INVALID];
      const count = SOAK ? 100_000 : 3_000;
      for (let i = 0; i < count; i++) {
        const query = random.chance(0.9) ? mutate(random.pick(VALID), random, all) : gibberish(random, 12);
        // A form without content is another error, and bytes that are no UTF-8 cannot be kept in our strings.
        if (query === '' || hasBytes(query) || takesWordForColon(query)) continue;
        const theirs = await ask(query);
        expect({ query, ok: parse(query).ok, error: theirs.error }).toMatchObject({ ok: theirs.status === 'success' });
      }
    });
  },
);

function hasBytes(query: string): boolean {
  return /\\(?:x[89a-f]|[23][0-7][0-7])/i.test(query) || !query.isWellFormed() || query.includes('[[:]');
}

/** The server's lexer takes a word after a range for the colon of a subquery. */
function takesWordForColon(query: string): boolean {
  const ours = parse(query);
  if (ours.ok) return false;
  return /^Expected ":" or "\]" after the range, found "[a-z_]/i.test(ours.problems[0]!.message);
}
