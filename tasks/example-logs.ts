/** The edge-log half of `npm start`: two hours of simulated traffic through the real intake, and three questions about it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LogsDemonstration {
  /** Where the service listens. */
  readonly origin: string;
  readonly dataDir: string;
  /** As the user would write it. */
  readonly config: string;
  /** Runs `obsiac` and shows the command line and what it prints; gives the exit code. */
  readonly obsiac: (args: readonly string[], limitMs: number) => Promise<number>;
  readonly show: (line?: string) => void;
}

const ENGINE_WAIT_MS = 30_000;
const COMMAND_LIMIT_MS = 120_000;
const TWO_HOURS_MS = 7_200_000;
/** A start so soon after the last shows what that one delivered. */
const LEAST_GAP_MS = 1_800_000;

interface Readiness {
  readonly logs?: { readonly state?: string; readonly reason?: string };
}

/** Undefined when the log store is ready, else why the demonstration is left out. */
async function obstacle(origin: string, dataDir: string): Promise<string | undefined> {
  if (!existsSync(path.join(dataDir, 'intake.json'))) return 'there is no intake.json in the data directory';
  const until = Date.now() + ENGINE_WAIT_MS;
  for (;;) {
    const answer = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(5000) });
    const { logs } = (await answer.json()) as Readiness;
    if (logs?.state === 'ready') break;
    if (logs?.state === 'disabled' || logs?.state === 'failed' || Date.now() > until)
      return logs?.reason ?? `the log engine is ${logs?.state ?? 'absent'}`;
    await sleep(250);
  }
  const description = await fetch(`${origin}/api/v4/openapi.json`, { signal: AbortSignal.timeout(5000) });
  return (await description.text()).includes('/logs/query') ? undefined : 'this service cannot be searched';
}

/** From when traffic is missing, so that a restart adds what happened since and nothing twice. */
function missingSince(file: string, now: number): number {
  const last = existsSync(file) ? Date.parse(readFileSync(file, 'utf8').trim()) : Number.NaN;
  return Number.isNaN(last) ? now - TWO_HOURS_MS : Math.max(last, now - TWO_HOURS_MS);
}

async function deliverTraffic({ dataDir, obsiac }: LogsDemonstration): Promise<number> {
  const marker = path.join(dataDir, 'simulated-until');
  const now = Date.now();
  const since = missingSince(marker, now);
  if (now - since < LEAST_GAP_MS) return 0;
  const [from, to] = [new Date(since).toISOString(), new Date(now).toISOString()];
  const incident = now - since === TWO_HOURS_MS ? ['--incident', '75m,90m'] : [];
  const intake = path.relative(process.cwd(), path.join(dataDir, 'intake.json'));
  const span = ['--from', from, '--to', to, ...incident];
  const code = await obsiac(['logpush', 'simulate', '--intake', intake, '--rate', '5', ...span], COMMAND_LIMIT_MS);
  if (code === 0) writeFileSync(marker, `${to}\n`);
  return code;
}

/** Never throws: whatever keeps logs from being shown is told in a line, and the rest of the start goes on. */
export async function demonstrateLogs(demonstration: LogsDemonstration): Promise<void> {
  const { origin, dataDir, config, obsiac, show } = demonstration;
  try {
    const reason = await obstacle(origin, dataDir);
    if (reason !== undefined) {
      show(`\nLogs are not shown: ${reason}.`);
      return;
    }
    if ((await deliverTraffic(demonstration)) !== 0) return;
    // Batches are loaded in order: when the record of the check is found, all before it is.
    if ((await obsiac(['-c', config, 'logpush', 'check'], COMMAND_LIMIT_MS)) !== 0) return;
    const errors = 'EdgeResponseStatus:>=500';
    const range = ['--from', 'now-2h'];
    const worst = `${errors} | stats count() as errors, p95(EdgeTimeToFirstByteMs) as p95_ms by (ClientRequestHost) | sort errors desc`;
    await obsiac(['-c', config, 'logs', 'hits', errors, ...range, '--step', '5m'], COMMAND_LIMIT_MS);
    await obsiac(['-c', config, 'logs', 'query', worst, ...range], COMMAND_LIMIT_MS);
    await obsiac(
      ['-c', config, 'logs', 'facets', errors, ...range, '--fields', 'ClientRequestPath,EdgeColoCode', '--limit', '5'],
      COMMAND_LIMIT_MS,
    );
  } catch (error) {
    show(`\nLogs are not shown: ${(error as Error).message}.`);
  }
}
