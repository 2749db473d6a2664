/** The state of a project, for commands that only look at it. */
import path from 'node:path';
import type { State } from '@obsiac/model';
import type { Arguments } from '../arguments/parse.ts';
import type { Context } from '../commands/command.ts';
import { readStateFile } from '../state/state-file.ts';
import { loadConfig } from './project.ts';

export interface ProjectState {
  /** Null when no apply has run yet. */
  readonly state: State | null;
  /** From the working directory, for messages. */
  readonly shownPath: string;
}

/** Reads and checks the state that the config names. Takes no lock, asks the service nothing. */
export async function openProjectState(args: Arguments, context: Context): Promise<ProjectState> {
  const { statePath, owner } = await loadConfig(args, context);
  const state = await readStateFile(statePath, owner);
  return { state, shownPath: shownPath(statePath, context.cwd) };
}

/** A path as short as it can be said from the working directory. */
function shownPath(absolute: string, cwd: string): string {
  const relative = path.relative(cwd, absolute);
  return relative.startsWith('..') ? absolute : relative;
}
