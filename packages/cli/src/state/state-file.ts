/** The state on disk: read whole or refused, replaced whole or left alone. */
import { readFile } from 'node:fs/promises';
import { type StateErrorCode as Refusal, readState, type State } from '@obsiac/model';
import { sha256 } from '../digest.ts';
import { StateError, type StateErrorCode, unreadable } from './state-error.ts';
import type { StateOwner } from './state-writer.ts';

export { StateError, type StateErrorCode } from './state-error.ts';
export { type OpenState, openState, type StateOwner, type StateWriter } from './state-writer.ts';

const CODES: Readonly<Record<Refusal, StateErrorCode>> = {
  empty: 'damaged',
  truncated: 'damaged',
  'not-json': 'damaged',
  'not-a-state': 'damaged',
  checksum: 'damaged',
  'newer-version': 'newer_version',
  'other-org': 'other_org',
  'other-address': 'other_address',
  'other-lineage': 'other_lineage',
};

/** For showing a state without asking whose it is. */
function writtenOwner(text: string): StateOwner {
  try {
    const { org, api_base_url } = JSON.parse(text) as Record<string, unknown>;
    return { org: String(org), apiBaseUrl: String(api_base_url) };
  } catch {
    return { org: '', apiBaseUrl: '' };
  }
}

/** Reads and checks the file; null when there is none. Takes no lock. Throws `StateError`; never makes up an empty state. */
export async function readStateFile(path: string, owner?: StateOwner): Promise<State | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unreadable(path, error);
  }
  const { org, apiBaseUrl } = owner ?? writtenOwner(text);
  const result = readState(text, { expect: { org, api_base_url: apiBaseUrl }, sha256 });
  if (result.error === undefined) return result.state;
  throw new StateError(CODES[result.error.code], path, `${path}: ${result.error.message}`);
}
