/** Gets programs from Debian's archive into the repository's cache, without installing anything on the system. */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where unpacked packages stay between runs: `.cache/debian` at the root of the repository. */
export const DEBIAN_CACHE = join(dirname(fileURLToPath(import.meta.url)), '..', '.cache', 'debian');

export type DebianErrorCode =
  /** No apt and dpkg here: not a Debian machine. */
  | 'no_apt'
  /** The machine's source lists name no Debian archive. */
  | 'no_archive'
  | 'update_failed'
  | 'download_failed'
  | 'unpack_failed'
  /** The package has no such file. */
  | 'no_binary'
  /** Another process held the cache for too long. */
  | 'busy';

/** A program could not be had. `message` is one sentence that a skipped test can print. */
export class DebianError extends Error {
  readonly code: DebianErrorCode;

  constructor(code: DebianErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'DebianError';
    this.code = code;
  }
}

export interface BinaryRequest {
  /** Name of the package, for example `prometheus`. */
  readonly package: string;
  /** Suite of the archive, for example `sid`. It need not be one that the machine uses. */
  readonly suite: string;
  /** Path inside the package, or a bare name for a file in `usr/bin`. */
  readonly binary: string;
  /** Other packages to unpack into the same tree, for example libraries that the machine lacks. */
  readonly alongside?: readonly string[];
  /** Folder of the cache; `DEBIAN_CACHE` unless told. */
  readonly cache?: string;
}

export interface Binary {
  /** Path of the program. */
  readonly path: string;
  /** Version of the package, as Debian writes it. */
  readonly version: string;
  /** The unpacked tree. */
  readonly root: string;
}

/**
 * Finds a program of a Debian package in the cache, or downloads and unpacks the package there.
 * Runs no maintainer script and changes nothing outside the cache. Throws `DebianError`.
 */
export async function debianBinary(request: BinaryRequest): Promise<Binary> {
  const cache = request.cache ?? DEBIAN_CACHE;
  const home = join(cache, request.suite, [request.package, ...(request.alongside ?? [])].join('+'));
  const ready = await cached(home, request);
  if (ready) return ready;
  await mkdir(dirname(home), { recursive: true });
  const unlock = await lock(`${home}.lock`);
  try {
    if (!(await cached(home, request))) await fetchInto(home, request);
  } finally {
    await unlock();
  }
  const binary = await cached(home, request);
  if (!binary) throw new DebianError('no_binary', `the Debian package ${request.package} has no ${request.binary}`);
  return binary;
}

async function cached(home: string, request: BinaryRequest): Promise<Binary | undefined> {
  const path = join(home, request.binary.includes('/') ? request.binary : join('usr', 'bin', request.binary));
  try {
    const version = await readFile(join(home, 'VERSION'), 'utf8');
    await access(path);
    return { path, version: version.trim(), root: home };
  } catch {
    return undefined;
  }
}

/** One process at a time downloads a package. A lock whose holder is gone is taken over. */
async function lock(path: string): Promise<() => Promise<void>> {
  for (let wait = 0; wait < 1_200; wait++) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (!(await holderLives(path))) await rm(path, { force: true });
    else await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new DebianError('busy', `another process holds ${path} for more than five minutes`);
}

async function holderLives(path: string): Promise<boolean> {
  const holder = Number(await readFile(path, 'utf8').catch(() => ''));
  // An empty file is a lock that is being written this moment.
  if (!holder) return true;
  try {
    process.kill(holder, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Downloads and unpacks into a temporary folder, then moves it into place in one step. */
async function fetchInto(home: string, request: BinaryRequest): Promise<void> {
  await mkdir(dirname(home), { recursive: true });
  const work = await mkdtemp(`${home}.part-`);
  try {
    const env = await privateApt(work, request.suite);
    await step(
      'update_failed',
      `the package list of Debian ${request.suite} could not be read`,
      'apt-get',
      ['update'],
      {
        cwd: work,
        env,
      },
    );
    const debs = join(work, 'debs');
    const tree = join(work, 'tree');
    await mkdir(debs);
    await mkdir(tree);
    const names = [request.package, ...(request.alongside ?? [])];
    const message = `the Debian package ${names.join(', ')} could not be downloaded from ${request.suite}`;
    await step('download_failed', message, 'apt-get', ['download', ...names], { cwd: debs, env });
    const files = await readdir(debs);
    for (const file of files) {
      await step('unpack_failed', `${file} could not be unpacked`, 'dpkg', ['-x', join(debs, file), tree], {
        cwd: work,
      });
    }
    const deb = files.find((file) => file.startsWith(`${request.package}_`));
    const version = deb ? (await run('dpkg-deb', ['-f', join(debs, deb), 'Version'])).stdout : '';
    await writeFile(join(tree, 'VERSION'), version);
    await rm(home, { recursive: true, force: true });
    await rename(tree, home);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function step(
  code: DebianErrorCode,
  message: string,
  file: string,
  args: string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<void> {
  try {
    await run(file, args, { ...options, timeout: 300_000, maxBuffer: 64 << 20 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new DebianError('no_apt', `this machine has no ${file}`, error);
    }
    const lines = String((error as { stderr?: string }).stderr ?? error).trim();
    throw new DebianError(code, `${message}: ${lines.split('\n').at(-1)}`, error);
  }
}

/**
 * An apt configuration of its own: lists, caches and state in `work`, one source. The machine's settings for
 * downloads (proxies, say) are kept; its hooks are not, since they may clean the machine's own caches.
 */
async function privateApt(work: string, suite: string): Promise<NodeJS.ProcessEnv> {
  const archive = await debianArchive();
  const acquire = await run('apt-config', ['dump']).then(
    ({ stdout }) => stdout.split('\n').filter((line) => line.startsWith('Acquire::http')),
    (error: unknown) => {
      throw new DebianError('no_apt', 'this machine has no apt', error);
    },
  );
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'log']) {
    await mkdir(join(work, folder), { recursive: true });
  }
  await writeFile(join(work, 'status'), '');
  const signed = archive.signedBy ? `[signed-by=${archive.signedBy}] ` : '';
  await writeFile(join(work, 'sources.list'), `deb ${signed}${archive.uri} ${suite} main\n`);
  const settings = {
    'Dir::State': join(work, 'state'),
    'Dir::State::status': join(work, 'status'),
    'Dir::Cache': join(work, 'cache'),
    'Dir::Log': join(work, 'log'),
    'Dir::Etc::sourcelist': join(work, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::parts': '/dev/null',
    'Dir::Etc::main': '/dev/null',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
    // A mirror may lag behind the two weeks that a list is valid. Its signature is checked all the same.
    'Acquire::Check-Valid-Until': 'false',
    'APT::Sandbox::User': process.getuid?.() === 0 ? 'root' : '',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";`);
  await writeFile(join(work, 'apt.conf'), `${[...acquire, ...lines].join('\n')}\n`);
  return { ...process.env, APT_CONFIG: join(work, 'apt.conf'), LC_ALL: 'C.UTF-8' };
}

export interface Archive {
  readonly uri: string;
  readonly signedBy: string | undefined;
}

/** The machine's own Debian archive, from its source lists. Throws `DebianError` when there is none. */
export async function debianArchive(etc = '/etc/apt'): Promise<Archive> {
  const deb822 = await readFile(join(etc, 'sources.list.d', 'debian.sources'), 'utf8').catch(() => '');
  const oneLine = await readFile(join(etc, 'sources.list'), 'utf8').catch(() => '');
  const archive = archiveOfStanzas(deb822) ?? archiveOfLines(oneLine);
  if (!archive) {
    throw new DebianError('no_archive', `the source lists in ${etc} name no Debian archive`);
  }
  return archive;
}

/** Reads the deb822 form: stanzas of `Field: value`. Security suites live in another archive and are passed over. */
export function archiveOfStanzas(text: string): Archive | undefined {
  const bare = text.replace(/^#.*\n?/gm, '');
  for (const stanza of bare.split(/\n\s*\n/)) {
    const field = (name: string) =>
      new RegExp(`^${name}:[ \\t]*(.*(?:\\n[ \\t]+.*)*)`, 'im').exec(stanza)?.[1]?.trim().split(/\s+/) ?? [];
    const uri = field('URIs')[0];
    const usable = field('Types').includes('deb') && field('Components').includes('main');
    const enabled = field('Enabled')[0]?.toLowerCase() !== 'no';
    if (!uri || !usable || !enabled || field('Suites').every((suite) => suite.includes('security'))) continue;
    const signedBy = field('Signed-By')[0];
    return { uri, signedBy: signedBy?.startsWith('/') ? signedBy : undefined };
  }
  return undefined;
}

/** Reads the one-line form: `deb [options] uri suite component…`. */
export function archiveOfLines(text: string): Archive | undefined {
  for (const line of text.split('\n')) {
    const parts = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.+)$/.exec(line);
    const [, options = '', uri = '', suite = '', components = ''] = parts ?? [];
    if (!uri || suite.includes('security') || !components.split(/\s+/).includes('main')) continue;
    return { uri, signedBy: /(?:^|\s)signed-by=(\/\S+)/.exec(options)?.[1] };
  }
  return undefined;
}

/** A program for a test, or the reason why the test has to be skipped. */
export type Availability =
  | { readonly binary: Binary; readonly reason: undefined }
  | { readonly binary: undefined; readonly reason: string };

/**
 * For tests that need a program: the program, or a named reason to skip them. With `CI=true` in the environment
 * a missing program is an error, so that such a test can never be skipped there unnoticed.
 */
export async function debianBinaryOrReason(request: BinaryRequest): Promise<Availability> {
  try {
    return { binary: await debianBinary(request), reason: undefined };
  } catch (error) {
    if (!(error instanceof DebianError) || process.env['CI'] === 'true') throw error;
    return { binary: undefined, reason: `${error.code}: ${error.message}` };
  }
}
