import { ApiError, type LogRecord, type LogTailEvent } from '@obsiac/api';
import { expect, test } from 'vitest';
import { type FollowEvent, follow } from './follow.ts';

const record = (id: string, observed: number): LogTailEvent => ({
  kind: 'record',
  record: { id, observed_timestamp: String(observed) } as LogRecord,
});

/** Each connection gives its events, and then ends or breaks. */
function connections(list: readonly { readonly events: readonly LogTailEvent[]; readonly error?: Error }[]) {
  const asked: string[] = [];
  const tail = async function* (request: { readonly from?: string | number | undefined }) {
    const connection = list[asked.push(String(request.from)) - 1];
    yield* connection?.events ?? [];
    if (connection?.error) throw connection.error;
  };
  return { asked, tail };
}

async function collect(list: Parameters<typeof connections>[0]) {
  const { asked, tail } = connections(list);
  const controller = new AbortController();
  const seen: string[] = [];
  const show = (event: FollowEvent) =>
    event.kind === 'record' ? event.record.id : event.kind === 'dropped' ? `-${event.count}` : 'broken';
  const following = follow(tail as never, { query: '', from: 5n, signal: controller.signal, firstWaitMs: 1 });
  for await (const event of following) {
    seen.push(show(event));
    if (asked.length === list.length && event.kind === 'broken') controller.abort();
  }
  return { seen, asked };
}

test('goes on after the last record, without showing one twice', async () => {
  const cut = new ApiError('cut', 'The connection broke.', { retryable: true });
  const { seen, asked } = await collect([
    { events: [record('a', 10), record('b', 20), record('c', 20)], error: cut },
    { events: [record('b', 20), record('c', 20), record('d', 20), { kind: 'dropped', count: 3 }, record('e', 30)] },
    { events: [record('e', 30), record('f', 31)] },
  ]);
  expect(seen).toEqual(['a', 'b', 'c', 'broken', 'd', '-3', 'e', 'broken', 'f', 'broken']);
  expect(asked).toEqual(['5', '20', '30']);
});

test('records that come out of order are shown', async () => {
  const { seen, asked } = await collect([
    { events: [record('a', 20), record('b', 10), record('c', 20)] },
    { events: [] },
  ]);
  expect(seen).toEqual(['a', 'b', 'c', 'broken', 'broken']);
  expect(asked).toEqual(['5', '20']);
});

test('what will not pass ends it', async () => {
  const { tail } = connections([{ events: [record('a', 10)], error: new ApiError('credentials_refused', 'no') }]);
  const following = follow(tail as never, {
    query: '',
    from: 5n,
    signal: new AbortController().signal,
    firstWaitMs: 1,
  });
  await following.next();
  await expect(following.next()).rejects.toMatchObject({ code: 'credentials_refused' });
});

test('an interrupt ends it quietly', async () => {
  const controller = new AbortController();
  const tail = async function* () {
    yield record('a', 10);
    controller.abort();
    throw new ApiError('cancelled', 'The request was cancelled.');
  };
  const seen = [];
  for await (const event of follow(tail as never, { query: '', from: 5n, signal: controller.signal }))
    seen.push(event.kind);
  expect(seen).toEqual(['record']);
});
