/** The version of this tool, from its own package. */
import { readFileSync } from 'node:fs';

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return (manifest as { version: string }).version;
}

export const VERSION = readVersion();
