/** `obsiac-service intake create|list|revoke`: credentials of log senders. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { authorizationOf, cloudflareUrl } from './installation/intake-file.ts';
import {
  type CredentialSummary,
  generatePassword,
  insertIntakeCredential,
  listIntakeCredentials,
  revokeIntakeCredential,
} from './metadata/intake-credentials.ts';
import type { Store } from './metadata/store.ts';
import type { Settings } from './settings/definition.ts';
import { actor, columns, day, type Outcome, seconds, withStore } from './store-command.ts';

interface IntakeFlags {
  readonly username: string | undefined;
}

export async function intakeCommand(
  settings: Settings,
  args: readonly string[],
  { username }: IntakeFlags,
): Promise<Outcome> {
  const [verb, target, ...more] = args;
  if (more.length > 0) return { usage: `intake ${verb} does not take "${more[0]}".` };
  if (verb === 'create') {
    return target === undefined ? create(settings, username) : { usage: 'Give the user name as --username.' };
  }
  if (verb === 'list') return withStore(settings, list);
  if (verb === 'revoke') {
    return target === undefined
      ? { usage: 'Say which credential to revoke: obsiac-service intake revoke NAME|ID' }
      : withStore(settings, (store, organizationId) => revoke(store, organizationId, target));
  }
  return { usage: `intake needs one of create, list, revoke${verb === undefined ? '' : `, not "${verb}"`}.` };
}

async function create(settings: Settings, given: string | undefined): Promise<Outcome> {
  const username = given ?? `${settings.org}-logs-${randomBytes(3).toString('hex')}`;
  // RFC 7617: the first colon ends the user name.
  if (!/^[^\s:\p{Cc}]{1,128}$/u.test(username)) {
    return { usage: 'A user name has 1 to 128 characters, no space and no colon.' };
  }
  return withStore(settings, async (store, organizationId) => {
    const access = { username, password: generatePassword() };
    const request = { organizationId, ...access, actor: actor(), now: seconds(store) };
    await store.db.transaction().execute((tx) => insertIntakeCredential(tx, request));
    const endpoint = endpointOf(settings);
    const made = {
      ...(endpoint === undefined ? {} : { endpoint }),
      ...access,
      authorization: authorizationOf(access),
      ...(endpoint === undefined ? {} : { cloudflare_url: cloudflareUrl(endpoint, access) }),
    };
    return { text: `${JSON.stringify(made, undefined, 2)}\n` };
  });
}

/** Where the service takes logs in, as far as it can be known while none runs. */
function endpointOf(settings: Settings): string | undefined {
  const configured =
    settings.intake_public_url ?? (settings.intake_port === undefined ? settings.public_url : undefined);
  const file = path.join(settings.data_dir, 'intake.json');
  if (configured !== undefined || !existsSync(file)) return configured;
  const { endpoint } = JSON.parse(readFileSync(file, 'utf8')) as { endpoint?: unknown };
  return typeof endpoint === 'string' ? endpoint : undefined;
}

async function list(store: Store, organizationId: string): Promise<Outcome> {
  const credentials = await listIntakeCredentials(store.db, organizationId);
  return { text: columns([['USERNAME', 'CREATED', 'LAST USED', 'STATE', 'ID'], ...credentials.map(cellsOf)]) };
}

async function revoke(store: Store, organizationId: string, target: string): Promise<Outcome> {
  const request = { organizationId, actor: actor(), now: seconds(store) };
  const { username } = await store.db.transaction().execute((tx) => revokeIntakeCredential(tx, request, target));
  return { text: `Revoked the credential "${username}". Batches sent with it are refused from now on.\n` };
}

function cellsOf(credential: CredentialSummary): string[] {
  const state = credential.revoked_at === null ? 'in force' : `revoked ${day(credential.revoked_at)}`;
  const used = credential.last_used_at === null ? 'never' : day(credential.last_used_at);
  return [credential.username, day(credential.created_at), used, state, credential.id];
}
