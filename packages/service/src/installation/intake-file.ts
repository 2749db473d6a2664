/** `intake.json` in the data directory: where and as whom to deliver logs to this service. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { generatePassword, insertIntakeCredential } from '../metadata/intake-credentials.ts';
import { findOrganization } from '../metadata/organizations.ts';
import type { Store } from '../metadata/store.ts';
import { replacePrivateFile } from './private-file.ts';

const intakeFile = z.looseObject({ endpoint: z.string(), username: z.string(), password: z.string() });

export interface IntakeAccess {
  readonly username: string;
  readonly password: string;
}

export function intakeFilePath(dataDir: string, slug: string, isFirst: boolean): string {
  return path.join(dataDir, isFirst ? 'intake.json' : `intake-${slug}.json`);
}

/**
 * Makes a credential and the file when neither is there, and has the file name the address that the service has now.
 * @param endpoint origin of the intake, `https://logs.example.com`
 */
export async function ensureIntakeFile(store: Store, slug: string, file: string, endpoint: string): Promise<void> {
  const access = existsSync(file) ? read(file) : await createAccess(store, slug, file, endpoint);
  if (access === undefined || access.endpoint === endpoint) return;
  write(file, endpoint, access);
}

/** The address for a job's `destination_conf`: Cloudflare sends what `header_Authorization` says as a header. */
export function cloudflareUrl(endpoint: string, access: IntakeAccess): string {
  return `${endpoint}/cloudflare?header_Authorization=${encodeURIComponent(authorizationOf(access))}`;
}

/** The value of the header `Authorization` (RFC 7617). */
export function authorizationOf({ username, password }: IntakeAccess): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function read(file: string): (IntakeAccess & { endpoint: string }) | undefined {
  try {
    return intakeFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Undefined when the organisation has credentials: whoever made them knows them. */
async function createAccess(
  store: Store,
  slug: string,
  file: string,
  endpoint: string,
): Promise<(IntakeAccess & { endpoint: string }) | undefined> {
  const organization = await findOrganization(store.db, slug);
  if (organization === undefined) return undefined;
  return store.db.transaction().execute(async (tx) => {
    const { count } = await tx
      .selectFrom('intake_credentials')
      .select((each) => each.fn.countAll<string | number>().as('count'))
      .where('organization_id', '=', organization.id)
      .executeTakeFirstOrThrow();
    if (Number(count) > 0) return undefined;
    const access = { username: `${slug}-logs`, password: generatePassword() };
    const now = Math.floor(store.now() / 1000);
    await insertIntakeCredential(tx, { organizationId: organization.id, ...access, actor: 'first start', now });
    // Before the commit: what is not kept is lost.
    write(file, endpoint, access);
    return { endpoint, ...access };
  });
}

function write(file: string, endpoint: string, { username, password }: IntakeAccess): void {
  const access = { username, password };
  replacePrivateFile(file, {
    endpoint,
    ...access,
    authorization: authorizationOf(access),
    cloudflare_url: cloudflareUrl(endpoint, access),
  });
}
