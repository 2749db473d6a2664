/** Makes sure that the real servers the tests talk to are on the machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';

interface DebianPackage {
  readonly name: string;
  readonly what: string;
  readonly present: () => boolean;
}

const packages: readonly DebianPackage[] = [
  {
    name: 'postgresql',
    what: 'PostgreSQL 15 or later',
    present: () =>
      existsSync('/usr/lib/postgresql') &&
      readdirSync('/usr/lib/postgresql').some((version) => existsSync(`/usr/lib/postgresql/${version}/bin/initdb`)),
  },
  { name: 'zsh', what: 'zsh, which checks its completion script', present: () => existsSync('/usr/bin/zsh') },
  { name: 'fish', what: 'fish, which checks its completion script', present: () => existsSync('/usr/bin/fish') },
];

/**
 * Installs what is missing when the machine is Debian and the user is root.
 * @returns what is still missing, as sentences for people; empty when all is there.
 */
export function prepareDebianPackages(): readonly string[] {
  const wanted = packages.filter((item) => !item.present());
  if (wanted.length === 0) return [];
  const canInstall = existsSync('/etc/debian_version') && process.getuid?.() === 0;
  if (canInstall) {
    console.log(`Installing Debian packages: ${wanted.map((item) => item.name).join(', ')}`);
    // RUNLEVEL=1 keeps the packages from starting services of their own: the tests start what they need.
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    const apt = (...args: string[]) => spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    apt('-qq', 'update');
    apt('-qq', 'install', '-y', '--no-install-recommends', ...wanted.map((item) => item.name));
  }
  return wanted.filter((item) => !item.present()).map((item) => `${item.what} (Debian package ${item.name})`);
}
