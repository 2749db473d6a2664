/** Says on which platforms the embedded engine can run. */
import { report } from 'node:process';

const SUPPORTED = new Set(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']);

/** Why the embedded engine cannot run on this platform and what to do instead, or undefined when it can. */
export function unsupportedPlatform(
  platform: string = process.platform,
  arch: string = process.arch,
  musl: boolean = usesMusl(),
): string | undefined {
  const instead = 'Set CLICKHOUSE_URL to the address of a ClickHouse server (26.2 or newer) instead.';
  if (!SUPPORTED.has(`${platform}-${arch}`)) {
    return `The embedded log engine does not run on ${platform} ${arch}. ${instead}`;
  }
  if (platform === 'linux' && musl) {
    return `The embedded log engine needs glibc, and this system uses musl (Alpine Linux does). ${instead}`;
  }
  return undefined;
}

/** Node names the glibc it runs on in its report; on musl it names none. */
function usesMusl(): boolean {
  if (process.platform !== 'linux') return false;
  const header = (report.getReport() as { header?: { glibcVersionRuntime?: string } }).header;
  return header?.glibcVersionRuntime === undefined;
}
