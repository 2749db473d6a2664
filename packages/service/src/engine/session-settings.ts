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
  // Each name is noted before the SET, so that a SET that fails half way is put back by the next statement.
  const resets = [...state.settings.keys()].filter((name) => !settings.has(name));
  for (const name of settings.keys()) if (!state.settings.has(name)) state.settings.set(name, '\0');
  await session.queryAsync(`SET ${changes.join(', ')}`);
  for (const [name, value] of settings) state.settings.set(name, value);
  for (const name of resets) state.settings.delete(name);
}
