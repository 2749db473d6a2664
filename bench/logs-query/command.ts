/** Runs a command to its end without blocking: connections to the service would be closed meanwhile and found broken after it. */
import { spawn } from 'node:child_process';

/** Resolves with the exit code when it is one of `accepted`. */
export function runCommand(
  program: string,
  args: readonly string[],
  accepted: readonly number[] = [0],
): Promise<number> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    // Byte order and byte matching: zgrep, sort and uniq are several times faster by it.
    env: { ...process.env, LC_ALL: 'C' },
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== null && accepted.includes(code)) resolve(code);
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code}: ${complaint}`));
    });
  });
}
