/** What a command says when it needs a confirmation and there is nobody to ask. */
import type { Plan } from '@obsiac/model';
import { resourceJson } from './plan/json.ts';
import { deletionsOf } from './plan/report.ts';
import type { Message } from './view.ts';

/** For programs: everything that would go and the command that confirms. People read it in the plan and the failure. */
export function confirmationRequired(plan: Plan, command: string): Message {
  return {
    stream: 'out',
    json: () => [
      {
        type: 'confirmation_required',
        level: 'warn',
        message: `${plan.totals.delete} to destroy; confirm with: ${command}`,
        deletions: deletionsOf(plan).flatMap(({ change, along }) =>
          [change, ...along].map(({ address, kind }) => resourceJson(address, kind)),
        ),
        confirm_command: command,
      },
    ],
  };
}
