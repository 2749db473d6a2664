/** `config.json` in the data directory: what `obsiac -c` needs to talk to this service. */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { SCOPES, type Scope } from '@obsiac/api';
import { z } from 'zod';
import { replacePrivateFile } from './private-file.ts';

const access = z.looseObject({ refresh_token: z.string(), api_base_url: z.string(), org: z.string() });
const configFile = z.looseObject({
  api_config: z.looseObject({ read: access, write: access, delete: access }),
});
type ConfigFile = z.infer<typeof configFile>;

const STATE_FILE = 'obsiac.state.json';

/**
 * Where the configuration of an organisation stands: `config.json`, or a file named after the organisation
 * when `config.json` belongs to another one of the same installation.
 */
export function configPath(dataDir: string, slug: string, otherSlugs: readonly string[]): string {
  const file = path.join(dataDir, 'config.json');
  const owner = read(file)?.api_config.read.org;
  const taken = owner !== undefined && owner !== slug && otherSlugs.includes(owner);
  return taken ? path.join(dataDir, `config-${slug}.json`) : file;
}

/** Writes a new configuration, readable by its owner alone. An old file is kept as `.bak`. */
export function writeConfig(file: string, slug: string, apiBaseUrl: string, tokens: Record<Scope, string>): void {
  if (existsSync(file)) renameSync(file, `${file}.bak`);
  const entries = SCOPES.map((scope) => [scope, { refresh_token: tokens[scope], api_base_url: apiBaseUrl, org: slug }]);
  replacePrivateFile(file, { api_config: Object.fromEntries(entries), state_lock_file_path: STATE_FILE });
}

/**
 * Makes the configuration name the address the service has now; everything else in the file stays.
 * @returns what became of it: `absent` or `unreadable` files are left alone
 */
export function refreshConfig(
  file: string,
  slug: string,
  apiBaseUrl: string,
): 'kept' | 'refreshed' | 'absent' | 'unreadable' {
  if (!existsSync(file)) return 'absent';
  const config = read(file);
  if (!config) return 'unreadable';
  const stale = SCOPES.map((scope) => config.api_config[scope]).filter(
    (part) => part.org === slug && part.api_base_url !== apiBaseUrl,
  );
  if (stale.length === 0) return 'kept';
  for (const part of stale) part.api_base_url = apiBaseUrl;
  replacePrivateFile(file, config);
  return 'refreshed';
}

function read(file: string): ConfigFile | undefined {
  try {
    return configFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}
