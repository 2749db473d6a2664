/** The child process around the embedded engine: serves ClickHouse's HTTP protocol on a private unix socket until it is told to stop. */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { bodyDirectory, prepareDataDirectory } from './data-directory.ts';
import { killAll, type NativeEngine, openEngine, runControl } from './native-engine.ts';
import type { EngineFailureCode, EngineMessage, EngineProcessOptions } from './protocol.ts';
import { answerStatement, type RunnerContext } from './statement-runner.ts';

const MAX_URL_BYTES = 1024 * 1024;
const CLOSE_WITHIN_MS = 5_000;

function tell(message: EngineMessage): void {
  process.send?.(message);
}

/** Ends the process without the engine's own exit handlers, which wait for what runs. The store is safe against that by design. */
function endNow(): never {
  process.kill(process.pid, 'SIGKILL');
  throw new Error('unreachable');
}

function serve(engine: NativeEngine, options: EngineProcessOptions): Server {
  const context: RunnerContext = {
    engine,
    bodyDirectory: bodyDirectory(options.dataDirectory),
  };
  const server = createServer({ maxHeaderSize: MAX_URL_BYTES, requestTimeout: 0, keepAliveTimeout: 60_000 });
  server.on('request', (request, response) => {
    if (request.url === '/ping') {
      runControl(engine, 'SELECT 1').then(
        () => response.end('Ok.\n'),
        () => response.writeHead(503).end('The engine does not answer.\n'),
      );
    } else {
      void answerStatement(context, request, response);
    }
  });
  rmSync(options.socketPath, { force: true });
  server.listen(options.socketPath);
  return server;
}

async function main(options: EngineProcessOptions): Promise<void> {
  const repaired = prepareDataDirectory(options.dataDirectory);
  const engine = await openEngine(options);
  const server = serve(engine, options);
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  chmodSync(options.socketPath, 0o600);

  const stop = async () => {
    server.close();
    setTimeout(endNow, CLOSE_WITHIN_MS);
    await killAll(engine);
    await engine.close();
    rmSync(options.socketPath, { force: true });
    process.exit(0);
  };
  process.on('message', () => void stop());
  // The service is gone: nobody will ask again, and the data directory must be free for the next one.
  process.on('disconnect', () => endNow());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  tell({ type: 'ready', version: engine.version, repaired });
}

function failureCode(reason: string): EngineFailureCode {
  if (/no native binding|failed to load native binding/.test(reason)) return 'unsupported_platform';
  return 'engine_failed';
}

const options = JSON.parse(process.argv[2] ?? '{}') as EngineProcessOptions;
main(options).catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error);
  tell({ type: 'failed', code: failureCode(reason), reason });
  setImmediate(endNow);
});
