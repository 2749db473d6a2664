/**
 * `npm run bench -- plan`: what plan and apply cost as a model grows. 10 rules an alert manager.
 * Everything is the real thing: the command as a process of its own against the service as a process of its own.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { measure, median, printTable, type Usage } from './process.ts';

const root = path.dirname(import.meta.dirname);
const obsiac = path.join(root, 'packages/cli/bin/obsiac.js');
const serviceBin = path.join(root, 'packages/service/bin/obsiac-service.js');
const RULES_PER_ENTITY = 10;
const INDICATORS_PER_ENTITY = 5;
const sizes = process.argv[2] ? process.argv[2].split(',').map(Number) : [100, 1_000, 10_000];

/** A model of realistic texts; `changed` raises the threshold of one rule in the middle. */
function modelText(rules: number, changed: boolean): string {
  const lines = ['entities:'];
  for (let entity = 0; entity < rules / RULES_PER_ENTITY; entity += 1) {
    const job = `service-${entity}`;
    lines.push(
      `  - name: Service ${entity}`,
      '    type: service',
      `    external_ref: ${job}`,
      '    entity_class: alert-manager',
    );
    lines.push(
      '    data_source: embedded',
      `    team: team-${entity % 40}`,
      '    tags: [http, production]',
      '    indicators:',
    );
    for (let indicator = 0; indicator < INDICATORS_PER_ENTITY; indicator += 1) {
      lines.push(`      - name: Error ratio ${indicator}`, '        unit: "%"');
      lines.push(
        `        query: 100 * sum(rate(http_requests_total{job="${job}", shard="${indicator}", code=~"5.."}[5m])) / sum(rate(http_requests_total{job="${job}", shard="${indicator}"}[5m]))`,
      );
    }
    lines.push('    alert_rules:');
    for (let rule = 0; rule < RULES_PER_ENTITY; rule += 1) {
      const threshold =
        rule + 0.5 + (changed && entity === Math.floor(rules / RULES_PER_ENTITY / 2) && rule === 3 ? 40 : 0);
      lines.push(`      - name: Errors of shard ${rule % INDICATORS_PER_ENTITY}, level ${rule}`);
      lines.push(
        `        description: Requests of ${job} fail (level ${rule}).`,
        `        indicator: Error ratio ${rule % INDICATORS_PER_ENTITY}`,
      );
      lines.push(
        `        greater_than: ${threshold}`,
        '        bad_minutes: 5',
        '        total_minutes: 10',
        `        severity: ${rule % 2 ? 'threat' : 'breach'}`,
      );
      lines.push('        runbook:', `          link: https://runbooks.example.com/${job}/${rule}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

async function startService(dataDir: string): Promise<{ origin: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [serviceBin, 'serve', '--data-dir', dataDir, '--port', '0', '--no-logs'], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  for (let attempt = 0; attempt < 200 && child.exitCode === null; attempt += 1) {
    await sleep(50);
    const origin = originOf(path.join(dataDir, 'config.json'));
    const answer = origin ? await fetch(`${origin}/readyz`).catch(() => undefined) : undefined;
    if (origin && answer?.ok) {
      const stop = async () => {
        child.kill('SIGTERM');
        await ended;
      };
      return { origin, stop };
    }
  }
  throw new Error('the service did not become ready');
}

function originOf(config: string): string | undefined {
  try {
    return new URL(JSON.parse(readFileSync(config, 'utf8')).api_config.read.api_base_url).origin;
  } catch {
    return undefined;
  }
}

/** API requests that the service has answered so far, by its own metrics. */
async function requests(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const counts = [...text.matchAll(/^obsiac_http_requests_total\{([^}]*)\} (\d+)/gm)];
  return counts.filter(([, labels]) => labels?.includes('/api/')).reduce((sum, [, , count]) => sum + Number(count), 0);
}

const rows: (string | number)[][] = [];
const perRule = new Map<string, number[]>();

async function run(
  origin: string,
  rules: number,
  name: string,
  args: readonly string[],
  expected: RegExp,
): Promise<Usage> {
  const before = await requests(origin);
  const usage = await measure(obsiac, args, { NO_COLOR: '1' });
  if (usage.exitCode !== 0 || !expected.test(usage.stdout)) {
    throw new Error(
      `${name} of ${rules} rules ended with ${usage.exitCode}:\n${usage.stderr.slice(-2000)}${usage.stdout.slice(-2000)}`,
    );
  }
  const sent = (await requests(origin)) - before;
  rows.push([name, rules, usage.seconds, usage.cpuSeconds, Math.round(usage.peakMiB), sent]);
  perRule.set(name, [...(perRule.get(name) ?? []), (usage.seconds * 1000) / rules]);
  return usage;
}

async function benchmark(rules: number): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'obsiac-bench-'));
  mkdirSync(path.join(folder, 'data'));
  const service = await startService(path.join(folder, 'data'));
  try {
    const config = path.join(folder, 'data', 'config.json');
    const model = path.join(folder, 'data', 'model.yaml');
    const common = ['-mf', model, '-c', config];
    writeFileSync(model, modelText(rules, false));
    await run(service.origin, rules, 'plan, nothing applied', [...common, 'plan'], /to add/);
    await run(service.origin, rules, 'first apply', [...common, 'apply', '-y'], /Apply complete/);
    await run(service.origin, rules, 'plan, no change', [...common, 'plan'], /No changes/);
    writeFileSync(model, modelText(rules, true));
    await run(service.origin, rules, 'plan, one change', [...common, 'plan'], /1 to change/);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Medians of interleaved runs, in milliseconds. */
function startUp(): { node: number; version: number } {
  const time = (args: readonly string[]) => {
    const started = performance.now();
    spawnSync(process.execPath, args);
    return performance.now() - started;
  };
  const samples = Array.from({ length: 21 }, () => ({ node: time(['-e', '0']), version: time([obsiac, 'version']) }));
  return { node: median(samples.map(({ node }) => node)), version: median(samples.map(({ version }) => version)) };
}

for (const size of sizes) await benchmark(size);
printTable(['step', 'rules', 'seconds', 'CPU s', 'peak MiB', 'requests'], rows);
console.log('\nGrowth: milliseconds a rule, and the last over the one before (1 or less: linear or better)');
printTable(
  ['step', ...sizes.map((size) => size.toLocaleString('en-US')), 'ratio'],
  [...perRule].map(([name, values]) => [name, ...values, (values.at(-1) ?? 0) / (values.at(-2) ?? values.at(-1) ?? 1)]),
);
const { node, version } = startUp();
console.log(
  `\nobsiac version: ${version.toFixed(0)} ms, node -e 0: ${node.toFixed(0)} ms, difference ${(version - node).toFixed(0)} ms`,
);
