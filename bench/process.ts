/** Runs a command for a benchmark and tells what it cost: wall time, CPU time and peak memory, read by the process itself. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export interface Usage {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Seconds from the start of the process to its end. */
  readonly seconds: number;
  /** User and system CPU seconds. */
  readonly cpuSeconds: number;
  /** Peak resident memory in MiB. */
  readonly peakMiB: number;
}

/** Runs a program written for Node to its end, by its own first line as a user does; `env` is added to this process' own. */
export function measure(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Usage> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'obsiac-bench-'));
  const report = path.join(folder, 'usage.json');
  const started = performance.now();
  const child = spawn(program, [...args], {
    env: {
      ...process.env,
      ...env,
      NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'report-usage.mjs')}`,
      OBSIAC_BENCH_USAGE: report,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      const seconds = (performance.now() - started) / 1000;
      const usage = JSON.parse(readFileSync(report, 'utf8')) as { cpuSeconds: number; peakMiB: number };
      rmSync(folder, { recursive: true });
      resolve({ exitCode: code ?? 1, ...output, seconds, ...usage });
    });
  });
}

/** Prints rows as an aligned table; numbers to the right. */
export function printTable(header: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const text = [header, ...rows].map((row) => row.map((cell) => (typeof cell === 'number' ? format(cell) : cell)));
  const widths = header.map((_, column) => Math.max(...text.map((row) => (row[column] as string).length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number),
      )
      .join('  ');
  console.log(line(text[0] as string[]));
  console.log(widths.map((width) => '─'.repeat(width)).join('  '));
  for (const row of text.slice(1)) console.log(line(row));
}

function format(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en-US');
  return value.toFixed(value < 10 ? 2 : 1);
}

export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
