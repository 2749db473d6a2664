/** Answers one HTTP request: binds, picks a session, runs the statement on it, sends the result, kills it when the client leaves. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Session } from 'chdb';
import { type EngineRequest, readEngineRequest } from './http-request.ts';
import { sendError, sendStream, sendWhole, startAnswer } from './http-response.ts';
import { killStatement, type NativeEngine, READ_SETTINGS, statementMark } from './native-engine.ts';
import type { SessionPool } from './session-pool.ts';
import { applySettings } from './session-settings.ts';
import { bindParameters, insertFromFile, type StatementKind, statementKind, trailingFormat } from './sql-text.ts';

export interface RunnerContext {
  readonly engine: NativeEngine;
  readonly bodyDirectory: string;
}

/** Formats whose chunks can follow one another: no header, no envelope. */
const STREAMED_FORMATS = new Set([
  'JSONEachRow',
  'JSONCompactEachRow',
  'JSONStringsEachRow',
  'TabSeparated',
  'TabSeparatedRaw',
  'TSV',
  'CSV',
]);

/** Handles `/?query=…`. Never rejects: what goes wrong is the answer. */
export async function answerStatement(
  context: RunnerContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const id = randomUUID();
  const gone = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) gone.abort(new Error('The client closed the connection'));
  });
  let read: EngineRequest | undefined;
  try {
    read = await readEngineRequest(request, context.bodyDirectory, id);
    await runStatement(context, id, read, response, gone.signal);
  } catch (error) {
    sendError(response, error);
  } finally {
    if (read?.data !== undefined) await rm(read.data.path, { force: true });
  }
}

async function runStatement(
  context: RunnerContext,
  id: string,
  request: EngineRequest,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const bound = bindParameters(request.sql, request.parameters);
  const kind = statementKind(bound);
  const format = trailingFormat(bound)?.name ?? request.defaultFormat;
  const text = request.data === undefined ? bound : insertFromFile(bound, request.data.path, request.data.compression);
  const pool = poolFor(context.engine, kind);
  const session = await pool.acquire(gone);
  const settings = new Map([...(kind === 'read' ? READ_SETTINGS : []), ...request.settings]);
  const run = async () => {
    if (kind !== 'control') await applySettings(session, settings, request.database);
    const statement = kind === 'control' ? text : statementMark(id) + text;
    if (kind === 'read' && !request.waitEndOfQuery && STREAMED_FORMATS.has(format)) {
      await answerStreamed(session, statement, format, request, response);
    } else {
      await answerWhole(session, statement, format, request, response);
    }
  };
  const running = run();
  const kill = () => void killStatement(context.engine, id, running);
  gone.addEventListener('abort', kill, { once: true });
  try {
    await running;
  } catch (error) {
    await cleanSession(session);
    throw error;
  } finally {
    gone.removeEventListener('abort', kill);
    pool.release(session);
  }
}

/**
 * A statement that failed can leave part of its output in the session, which the engine would put before the next answer, and a
 * stream that failed stays registered until the session runs something else. Runs small statements until the answer is only its own.
 */
async function cleanSession(session: Session): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const mark = randomUUID();
    const answer = await session.queryAsync(`SELECT '${mark}'`, { format: 'TabSeparated' }).catch(() => undefined);
    if (answer?.text() === `${mark}\n`) return;
  }
  // A session that mixes answers must not be used again: the supervisor starts a new process.
  process.kill(process.pid, 'SIGKILL');
}

function poolFor(engine: NativeEngine, kind: StatementKind): SessionPool {
  if (kind === 'write') return engine.writers;
  return kind === 'control' ? engine.control : engine.readers;
}

async function answerWhole(
  session: Session,
  statement: string,
  format: string,
  request: EngineRequest,
  response: ServerResponse,
): Promise<void> {
  const result = await session.queryAsync(statement, { format });
  startAnswer(response, request, format, {
    rowsRead: result.rowsRead,
    bytesRead: result.bytesRead,
    elapsedSeconds: result.elapsed,
  });
  sendWhole(response, request, result.bytes());
}

/** The first chunk is awaited before the status is sent, so that most errors still have one of their own. */
async function answerStreamed(
  session: Session,
  statement: string,
  format: string,
  request: EngineRequest,
  response: ServerResponse,
): Promise<void> {
  const stream = session.queryStream(statement, { format });
  try {
    const chunks = stream[Symbol.asyncIterator]();
    const first = await chunks.next();
    startAnswer(response, request, format);
    if (first.done) {
      sendWhole(response, request, new Uint8Array(0));
      return;
    }
    const all = async function* () {
      yield first.value.raw();
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value.raw();
    };
    await sendStream(response, request, all());
  } finally {
    stream.cancel();
  }
}
