/** Seals the secrets that the service must be able to read again: channel destinations and data source credentials. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PREFIX = 'v1:';

export class SecretKeyError extends Error {
  readonly code = 'bad_secret_key';
}

/** Sealed texts are AES-256-GCM under a key that stands beside the database, never in it. */
export interface Vault {
  seal(plain: string): string;
  /** @throws SecretKeyError when another key has sealed it, or it was tampered with. */
  open(sealed: string): string;
  /** A key for another use, derived so that neither tells of the other. */
  deriveKey(purpose: string): Uint8Array;
  /** Tells one key from another without giving it away. */
  readonly fingerprint: string;
}

/** @param key 32 bytes */
export function createVault(key: Uint8Array): Vault {
  const derive = (purpose: string) =>
    new Uint8Array(hkdfSync('sha256', key, new Uint8Array(0), `obsiac/${purpose}`, KEY_BYTES));
  const sealing = derive('seal');
  return {
    seal: (plain) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce);
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64');
    },
    open: (sealed) => unseal(sealing, sealed),
    deriveKey: derive,
    fingerprint: Buffer.from(derive('fingerprint')).toString('hex').slice(0, 32),
  };
}

function unseal(key: Uint8Array, sealed: string): string {
  try {
    if (!sealed.startsWith(PREFIX)) throw new Error('unknown form');
    const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new SecretKeyError('A secret in the metadata store cannot be opened with this secret key.', { cause });
  }
}

/**
 * The key from the setting, else from `secret.key` in the data directory, which is made when it is not there.
 * @param setting 32 bytes in base64 or hex; undefined: use the file
 */
export function loadSecretKey(dataDir: string, setting: string | undefined): Uint8Array {
  if (setting !== undefined) return decodeKey(setting, 'OBSIAC_SECRET_KEY');
  const file = path.join(dataDir, 'secret.key');
  if (!existsSync(file)) createKeyFile(dataDir, file);
  return decodeKey(readFileSync(file, 'utf8'), file);
}

/** Two processes that start at once end with the same key: the file appears whole and only once. */
function createKeyFile(dataDir: string, file: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flush: true });
  chmodSync(draft, 0o600);
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}

function decodeKey(text: string, from: string): Uint8Array {
  const trimmed = text.trim();
  const key = /^[0-9a-f]{64}$/i.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new SecretKeyError(
    `The secret key in ${from} is not 32 bytes in base64 or hex. Make one with: openssl rand -base64 32`,
  );
}
