/**
 * Completes package-lock.json: `node tasks/lock-file.ts`, after every `npm install` that changed it.
 * npm leaves optional packages of other platforms out when the registry it asks does not have them, and `npm ci` then refuses the
 * lock file everywhere. An entry with version and platform is enough: where the platform differs, npm does not ask for the package.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

interface Entry {
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly engines?: unknown;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  packages: Record<string, Entry>;
}

export const LOCK_FILE = path.join(path.dirname(import.meta.dirname), 'package-lock.json');

export function readLockFile(): LockFile {
  return JSON.parse(readFileSync(LOCK_FILE, 'utf8')) as LockFile;
}

/** Optional dependencies that have no entry of their own, with the entry that asks for them. */
export function missingOptional({ packages }: LockFile): readonly { name: string; version: string; of: Entry }[] {
  return Object.entries(packages).flatMap(([place, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => !(`node_modules/${name}` in packages) && !(`${place}/node_modules/${name}` in packages))
      .map(([name, version]) => ({ name, version, of: entry })),
  );
}

/** Platform packages are named `@scope/kind-OS-CPU[-LIBC]`. */
function platformOf(name: string): { cpu: string[]; libc?: string[]; os: string[] } {
  const [os = '', cpu = '', ...rest] = name.replace(/^@[^/]+\/[a-z]+-/, '').split('-');
  const libc = rest.some((part) => part.startsWith('musl')) ? 'musl' : 'glibc';
  return { cpu: [cpu], ...(os === 'linux' && { libc: [libc] }), os: [os] };
}

function complete(lock: LockFile): LockFile {
  const packages = { ...lock.packages };
  for (const { name, version, of } of missingOptional(lock)) {
    const { cpu, libc, os } = platformOf(name);
    const entry = { version, cpu, ...(of.dev && { dev: true }), ...(libc && { libc }), optional: true, os };
    packages[`node_modules/${name}`] = of.engines === undefined ? entry : { ...entry, engines: of.engines };
  }
  const sorted = Object.entries(packages).sort(([left], [right]) => (left < right ? -1 : 1));
  return { ...lock, packages: Object.fromEntries(sorted) };
}

if (import.meta.main) writeFileSync(LOCK_FILE, `${JSON.stringify(complete(readLockFile()), null, 2)}\n`);
