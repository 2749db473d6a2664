/** `obsiac-service token create|list|revoke`: works on the metadata store itself, whether or not a service runs. */
import { SCOPES, type Scope } from '@obsiac/api';
import {
  generateRefreshToken,
  insertRefreshToken,
  listRefreshTokens,
  revokeRefreshToken,
  type TokenSummary,
} from './metadata/refresh-tokens.ts';
import type { Store } from './metadata/store.ts';
import type { Settings } from './settings/definition.ts';
import { actor, columns, day, type Outcome, seconds, withStore } from './store-command.ts';

interface TokenFlags {
  readonly scope: string | undefined;
  readonly name: string | undefined;
}

export async function tokenCommand(settings: Settings, args: readonly string[], flags: TokenFlags): Promise<Outcome> {
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

async function create(settings: Settings, { scope, name }: TokenFlags): Promise<Outcome> {
  if (!isScope(scope)) return { usage: `token create needs --scope, one of ${SCOPES.join(', ')}.` };
  if (!name?.trim()) return { usage: 'token create needs --name, which says what the token is for.' };
  return withStore(settings, async (store, organizationId) => {
    const token = generateRefreshToken(scope);
    const request = { organizationId, scope, name, token, actor: actor(), now: seconds(store) };
    await store.db.transaction().execute((tx) => insertRefreshToken(tx, request));
    return { text: `${token}\n` };
  });
}

async function list(store: Store, organizationId: string): Promise<Outcome> {
  const tokens = await listRefreshTokens(store.db, organizationId);
  const header = ['NAME', 'SCOPE', 'CREATED', 'LAST USED', 'STATE', 'ID'];
  const rows = [header, ...tokens.map(cellsOf)];
  return { text: columns(rows) };
}

async function revoke(store: Store, organizationId: string, target: string): Promise<Outcome> {
  const request = { organizationId, actor: actor(), now: seconds(store) };
  const token = await store.db.transaction().execute((tx) => revokeRefreshToken(tx, request, target));
  return { text: `Revoked the ${token.scope} token "${token.name}". Its access tokens no longer work.\n` };
}

function cellsOf(token: TokenSummary): string[] {
  const state = token.revoked_at === null ? 'in force' : `revoked ${day(token.revoked_at)}`;
  const used = token.last_used_at === null ? 'never' : day(token.last_used_at);
  return [token.name, token.scope, day(token.created_at), used, state, token.id];
}

function isScope(text: string | undefined): text is Scope {
  return (SCOPES as readonly string[]).includes(text ?? '');
}
