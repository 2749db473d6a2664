/** Plans and applies as the commands do, with a state in a directory of its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@obsiac/api';
import {
  type Actual,
  type Entity,
  hasChanges,
  type Model,
  plan as makePlan,
  type Plan,
  type State,
} from '@obsiac/model';
import { type ApplyInput, type ApplyResult, applyPlan } from '../../packages/cli/src/apply/apply.ts';
import { sha256 } from '../../packages/cli/src/digest.ts';
import { acquireLock } from '../../packages/cli/src/lock/lock.ts';
import { readActual } from '../../packages/cli/src/remote/read-actual.ts';
import type { FileCalls } from '../../packages/cli/src/state/replace-file.ts';
import { openState, readStateFile, type StateOwner } from '../../packages/cli/src/state/state-file.ts';

type Wanted = { readonly entities: readonly Entity[]; readonly moved?: Model['moved'] };

export interface Workspace {
  readonly statePath: string;
  state(): Promise<State | null>;
  plan(client: Client, wanted: Wanted): Promise<Plan>;
  /** Plans and applies. */
  apply(
    client: Client,
    wanted: Wanted,
    more?: Partial<ApplyInput> & { readonly files?: FileCalls },
  ): Promise<ApplyResult>;
  remove(): void;
}

export function createWorkspace(owner: StateOwner): Workspace {
  const directory = mkdtempSync(join(tmpdir(), 'obsiac-workspace-'));
  const statePath = join(directory, 'app.lock');
  const state = () => readStateFile(statePath, owner);
  const plan: Workspace['plan'] = async (client, { entities, moved = [] }) => {
    const { actual } = await readActual(client);
    return makePlan({ desired: { entities, moved }, actual, state: await state(), sha256 });
  };
  return {
    statePath,
    state,
    plan,
    async apply(client, wanted, { files, ...more } = {}) {
      const lock = await acquireLock({ statePath, operation: 'apply', timeoutMs: 0 });
      try {
        const writer = openState({
          path: statePath,
          previous: await state(),
          owner,
          toolVersion: '0',
          lock,
          ...(files && { files }),
        });
        return await applyPlan({ plan: await plan(client, wanted), client, state: writer, stop: lock.lost, ...more });
      } finally {
        await lock.release();
      }
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** What a service holds, without the ids, in an order of its own: for comparing two services. */
function contentsOf({ entities }: Actual): unknown {
  const sorted = <T>(values: readonly T[]): T[] =>
    [...values].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return sorted(
    entities.map(({ entity }) => ({
      ...entity,
      indicators: sorted(entity.indicators),
      alert_rules: sorted(entity.alert_rules),
      notification_channels: sorted(entity.notification_channels),
    })),
  );
}

export async function contents(client: Client): Promise<unknown> {
  return contentsOf((await readActual(client)).actual);
}

export { hasChanges };
