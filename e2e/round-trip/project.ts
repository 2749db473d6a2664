/** A directory with a model and a config for a real service, and the command line run in it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type RunResult, runCli } from '../../packages/cli/test/run-cli.ts';
import type { RealService } from '../real-service.ts';

const launcher = path.join(import.meta.dirname, '../../packages/cli/bin/obsiac.js');

export interface Project {
  readonly directory: string;
  write(name: string, content: string | object): void;
  /** Runs in this process, with `-mf model.yaml -c config.json` in front. */
  run(...argv: string[]): Promise<RunResult>;
  /** Runs exactly these words as a process of its own. */
  spawn(...argv: string[]): Promise<RunResult>;
  remove(): void;
}

export function createProject(service: RealService): Project {
  const directory = mkdtempSync('/tmp/obsiac-round-trip-');
  const write = (name: string, content: string | object) =>
    writeFileSync(path.join(directory, name), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  const access = (scope: 'read' | 'write' | 'delete') => ({
    refresh_token: service.tokens[scope],
    api_base_url: service.apiBaseUrl,
    org: service.org,
  });
  write('config.json', {
    api_config: { read: access('read'), write: access('write'), delete: access('delete') },
    state_lock_file_path: 'state.lock',
  });
  return {
    directory,
    write,
    run: (...argv) => runCli(['-mf', 'model.yaml', '-c', 'config.json', ...argv], { cwd: directory }),
    spawn: (...argv) => spawnCli(argv, directory),
    remove: () => rmSync(directory, { recursive: true }),
  };
}

function spawnCli(argv: readonly string[], cwd: string): Promise<RunResult> {
  const child = spawn(process.execPath, [launcher, ...argv], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const kept = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    kept.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    kept.stderr += chunk.toString();
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code: code ?? -1, ...kept })));
}

/** One line of the JSON stream. */
export interface CliEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export function eventsOf({ stdout }: RunResult): readonly CliEvent[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as CliEvent);
}

export interface PlannedChange {
  readonly addr: string;
  readonly action: string;
  readonly paths: readonly string[];
}

/** The planned changes of a `--json` stream. */
export function plannedChanges(result: RunResult): readonly PlannedChange[] {
  return eventsOf(result)
    .filter(({ type }) => type === 'planned_change')
    .map((event) => {
      const change = event['change'] as { resource: { addr: string }; action: string; fields: { path: string }[] };
      return { addr: change.resource.addr, action: change.action, paths: change.fields.map(({ path: name }) => name) };
    });
}
