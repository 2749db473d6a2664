/** Keeps each session's settings equal to what its next statement asks for, with as few SET statements as can be. */
import type { Session } from 'chdb';
import { quoteIdentifier, quoteString, SqlTextError } from './sql-text.ts';

interface Applied {
  readonly settings: Map<string, string>;
  database: string;
}

const applied = new WeakMap<Session, Applied>();
const UNKNOWN_SETTING = 115;

/**
 * Makes the session run its next statement in `database` with exactly `settings` over the engine's defaults: what an earlier
 * statement set and this one does not goes back to its default.
 */
export async function applySettings(
  session: Session,
  settings: ReadonlyMap<string, string>,
  database: string,
): Promise<void> {
  const state = applied.get(session) ?? { settings: new Map<string, string>(), database: 'default' };
  applied.set(session, state);
  if (state.database !== database) {
    await session.queryAsync(`USE ${quoteIdentifier(database)}`);
    state.database = database;
  }
  const changes: string[] = [];
  for (const [name, value] of settings) {
    if (!/^[A-Za-z]\w*$/.test(name)) throw new SqlTextError(UNKNOWN_SETTING, `Unknown setting ${quoteString(name)}`);
    if (state.settings.get(name) !== value) changes.push(`${name} = ${quoteString(value)}`);
  }
  for (const name of state.settings.keys()) if (!settings.has(name)) changes.push(`${name} = DEFAULT`);
  if (changes.length === 0) return;
  try {
    await session.queryAsync(`SET ${changes.join(', ')}`);
  } catch (error) {
    await resetSettings(session, state, settings);
    throw error;
  }
  state.settings.clear();
  for (const [name, value] of settings) state.settings.set(name, value);
}

/** After a SET that failed it is unknown which names it changed: put back every one that can be. */
async function resetSettings(session: Session, state: Applied, settings: ReadonlyMap<string, string>): Promise<void> {
  for (const name of new Set([...state.settings.keys(), ...settings.keys()])) {
    await session.queryAsync(`SET ${name} = DEFAULT`).catch(() => undefined);
  }
  state.settings.clear();
}
