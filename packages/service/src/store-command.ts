/** What commands share that work on the metadata store itself, whether or not a service runs. */
import { existsSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import path from 'node:path';
import { findOrganization, listOrganizationSlugs } from './metadata/organizations.ts';
import { closeStore, openStore, type Store } from './metadata/store.ts';
import { Refusal } from './refusal.ts';
import { createVault, loadSecretKey } from './secrets/vault.ts';
import type { Settings } from './settings/definition.ts';

/** What to print, or what was wrong with the command line. */
export type Outcome = { text: string } | { usage: string };

/** Opens the store of the settings for `work` on their organisation. */
export async function withStore(
  settings: Settings,
  work: (store: Store, organizationId: string) => Promise<Outcome>,
): Promise<Outcome> {
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

/** Rows under one another, each column as wide as its widest cell. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index]!))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** `2026-11-21 08:52`, UTC. */
export function day(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
}

/** The store's clock in Unix seconds. */
export function seconds(store: Store): number {
  return Math.floor(store.now() / 1000);
}

/** Who runs the command, for the audit trail. */
export function actor(): string {
  return `${userInfo().username}@${hostname()}`;
}
