/** Runs the real command in a process of its own, in a directory with a model and a config. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Credential, Scope } from '@obsiac/api';

const OBSIAC = join(import.meta.dirname, '../../packages/cli/bin/obsiac.js');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export interface CliDirectory {
  readonly path: string;
  readonly statePath: string;
  /** Starts `obsiac -mf model.yaml -c config.json ARGS`. */
  start(args: readonly string[], env?: Readonly<Record<string, string>>): Run;
  remove(): void;
}

export function createCliDirectory(
  model: string,
  base: string,
  credentials: Readonly<Record<Scope, Credential>>,
): CliDirectory {
  const path = mkdtempSync(join(tmpdir(), 'obsiac-kill-'));
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'model.yaml'), model);
  const api_config = Object.fromEntries(
    Object.entries(credentials).map(([scope, credential]) => [scope, { ...credential, api_base_url: base }]),
  );
  writeFileSync(join(path, 'config.json'), JSON.stringify({ api_config, state_lock_file_path: 'app.lock' }));
  return {
    path,
    statePath: join(path, 'app.lock'),
    start(args, env = {}) {
      const child = spawn(process.execPath, [OBSIAC, '-mf', 'model.yaml', '-c', 'config.json', ...args], {
        cwd: path,
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
      child.stderr.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
      const ended = new Promise<Ended>((resolve) =>
        child.on('close', (code, signal) => resolve({ code, signal, output })),
      );
      return { child, ended };
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Thirty objects: three alert managers, each with three indicators, four rules and two channels. */
export function thirtyObjects(): string {
  const one = (ref: string): string => `  - name: The ${ref}
    type: service
    external_ref: ${ref}
    entity_class: alert-manager
    team: payments
    tags: [http, prod]
    labels: {region: eu}
    notification_channels:
      - {name: ops alerts, type: Slack, severity: breach, mention: "@ops"}
      - {name: on call, type: Pagerduty, severity: breach}
    indicators:
      - {name: errors, query: 'sum(rate(${ref}_errors_total[5m]))'}
      - {name: latency, query: 'max(${ref}_latency{service="$service"})', unit: ms}
      - {name: 5xx Status, query: 'sum(rate(${ref}_5xx_total[5m]))', unit: '%'}
    alert_rules:
      - {name: Errors, indicator: errors, greater_than: 5, bad_minutes: 3, total_minutes: 10}
      - {name: Few errors, indicator: errors, greater_than: 1, bad_minutes: 5, total_minutes: 10, severity: threat}
      - {name: Latency, indicator: latency, greater_than_eq: 0.25, bad_minutes: 1, total_minutes: 5, label_filter: {service: cart}}
      - {name: Spike, indicator: 5xx Status, expression: 'high_spike(2, 5xx Status)', bad_minutes: 1, total_minutes: 1}
`;
  return `entities:\n${['checkout', 'cart', 'search'].map(one).join('')}`;
}
