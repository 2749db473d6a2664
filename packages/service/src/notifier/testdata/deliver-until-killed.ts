/** A notifier in a process of its own, for a test to kill: `node deliver-until-killed.ts <json>`. */
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { openStore } from '../../metadata/store.ts';
import { createVault } from '../../secrets/vault.ts';
import { createNotifier } from '../notifier.ts';

interface Job {
  readonly dataDir: string;
  readonly databaseUrl?: string;
  readonly origin: string;
  /** Unix milliseconds that its clock begins with. */
  readonly nowMs: number;
}

const job = JSON.parse(process.argv[2]!) as Job;
const began = Date.now();
const store = await openStore({
  dataDir: job.dataDir,
  databaseUrl: job.databaseUrl,
  vault: createVault(new Uint8Array(32).fill(7)),
  now: () => job.nowMs + Date.now() - began,
});
createNotifier({
  store,
  log: pino({ level: 'silent' }),
  registry: new Registry(),
  settings: { pagerduty_url: job.origin, opsgenie_url: job.origin },
}).start();
