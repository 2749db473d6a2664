/** Makes a plan: reads what the service holds and compares it with the model and the state. */
import { acceptRenames, type Plan, type PlanInput, plan, type State } from '@obsiac/model';
import type { Context } from './commands/command.ts';
import { sha256 } from './digest.ts';
import { readActual } from './remote/read-actual.ts';
import type { Session } from './session.ts';
import { notice } from './views/messages.ts';

export interface PlanRequest {
  readonly session: Session;
  readonly desired: PlanInput['desired'];
  readonly state: State | null;
  /** Take suggested renames as if the model had them under `moved`. */
  readonly acceptMoves: boolean;
  readonly concurrency: number;
}

export interface MadePlan {
  readonly plan: Plan;
  /** The organisation's revision; null when the service has none. */
  readonly revision: number | null;
}

/** Reads with the read token alone and writes nothing. Throws `ApiError`. */
export async function makePlan(request: PlanRequest, context: Context): Promise<MadePlan> {
  const { session, desired, state, concurrency } = request;
  context.view.say({ stream: 'err', status: () => 'Reading what the service holds …' });
  const { actual, revision, consistent } = await readActual(session.client, { signal: context.cancelled, concurrency });
  if (!consistent) {
    context.view.say(
      notice('Others kept changing the service while it was read; the plan may be out of date already.', 'warn'),
    );
  }
  const input: PlanInput = { desired, actual, state, sha256 };
  return { plan: request.acceptMoves ? planWithRenames(input) : plan(input), revision };
}

/** A confirmed rename of an alert manager can bring to light renames inside it, so this goes on until there are none. */
function planWithRenames(input: PlanInput): Plan {
  let current = input;
  for (;;) {
    const made = plan(current);
    if (made.renames.length === 0) {
      return made;
    }
    current = acceptRenames(current, made.renames);
  }
}
