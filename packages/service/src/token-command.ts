/** `obsiac-service token create|list|revoke`: works on the metadata store itself, whether or not a service runs. */
import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import path from 'node:path';
import { SCOPES, type Scope } from '@obsiac/api';
import { findOrganization, listOrganizationSlugs } from './metadata/organizations.ts';
import {
  generateRefreshToken,
  insertRefreshToken,
  listRefreshTokens,
  revokeRefreshToken,
  type TokenSummary,
} from './metadata/refresh-tokens.ts';
import { closeStore, openStore, type Store } from './metadata/store.ts';
import { Refusal } from './refusal.ts';
import { createVault, loadSecretKey } from './secrets/vault.ts';
import type { Settings } from './settings/definition.ts';

interface TokenFlags {
  readonly scope: string | undefined;
  readonly name: string | undefined;
}

/** What to print, or what was wrong with the command line. */
export type TokenOutcome = { text: string } | { usage: string };

export async function tokenCommand(
  settings: Settings,
  args: readonly string[],
  flags: TokenFlags,
): Promise<TokenOutcome> {
  const [verb, target, ...more] = args;
  if (more.length > 0) return { usage: `token ${verb} does not take "${more[0]}".` };
  if (verb === 'create') return target === undefined ? create(settings, flags) : { usage: 'Give the name as --name.' };
  if (verb === 'list') return withStore(settings, list);
  if (verb === 'revoke') {
    return target === undefined
      ? { usage: 'Say which token to revoke: obsiac-service token revoke NAME|ID' }
      : withStore(settings, (store, organizationId) => revoke(store, organizationId, target));
  }
  return { usage: `token needs one of create, list, revoke${verb === undefined ? '' : `, not "${verb}"`}.` };
}

async function create(settings: Settings, { scope, name }: TokenFlags): Promise<TokenOutcome> {
  if (!isScope(scope)) return { usage: `token create needs --scope, one of ${SCOPES.join(', ')}.` };
  if (!name?.trim()) return { usage: 'token create needs --name, which says what the token is for.' };
  return withStore(settings, async (store, organizationId) => {
    const token = generateRefreshToken(scope);
    const request = { organizationId, scope, name, token, actor: actor(), now: seconds(store) };
    await store.db.transaction().execute((tx) => insertRefreshToken(tx, request));
    return { text: `${token}\n` };
  });
}

async function list(store: Store, organizationId: string): Promise<TokenOutcome> {
  const tokens = await listRefreshTokens(store.db, organizationId);
  const header = ['NAME', 'SCOPE', 'CREATED', 'LAST USED', 'STATE', 'ID'];
  const rows = [header, ...tokens.map(cellsOf)];
  const widths = header.map((_, index) => Math.max(...rows.map((row) => row[index]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index]!))
      .join('  ')
      .trimEnd(),
  );
  return { text: `${lines.join('\n')}\n` };
}

async function revoke(store: Store, organizationId: string, target: string): Promise<TokenOutcome> {
  const request = { organizationId, actor: actor(), now: seconds(store) };
  const token = await store.db.transaction().execute((tx) => revokeRefreshToken(tx, request, target));
  return { text: `Revoked the ${token.scope} token "${token.name}". Its access tokens no longer work.\n` };
}

async function withStore(
  settings: Settings,
  work: (store: Store, organizationId: string) => Promise<TokenOutcome>,
): Promise<TokenOutcome> {
  const embedded = path.join(settings.data_dir, 'metadata.sqlite');
  if (!settings.database_url && !existsSync(embedded)) {
    throw new Refusal('not_found', `${settings.data_dir} holds no service data. Name the directory with --data-dir.`);
  }
  const vault = createVault(loadSecretKey(settings.data_dir, settings.secret_key));
  const store = await openStore({
    dataDir: settings.data_dir,
    databaseUrl: settings.database_url,
    vault,
    now: Date.now,
  });
  try {
    const organization = await findOrganization(store.db, settings.org);
    if (organization) return await work(store, organization.id);
    const slugs = await listOrganizationSlugs(store.db);
    throw new Refusal(
      'unknown_organization',
      `There is no organisation "${settings.org}" here, only: ${slugs.join(', ') || 'none'}. Name one with --org.`,
    );
  } finally {
    await closeStore(store);
  }
}

function cellsOf(token: TokenSummary): string[] {
  const state = token.revoked_at === null ? 'in force' : `revoked ${day(token.revoked_at)}`;
  const used = token.last_used_at === null ? 'never' : day(token.last_used_at);
  return [token.name, token.scope, day(token.created_at), used, state, token.id];
}

function day(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
}

function seconds(store: Store): number {
  return Math.floor(store.now() / 1000);
}

function actor(): string {
  return `${userInfo().username}@${hostname()}`;
}

function isScope(text: string | undefined): text is Scope {
  return (SCOPES as readonly string[]).includes(text ?? '');
}
