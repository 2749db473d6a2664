/** Asks a person, and takes only the word "yes". */

import { EXIT } from '../exit-code.ts';
import { cancelledFailure, Failure } from '../failure.ts';
import type { Context } from './command.ts';

/** Resolves when the person agrees; throws `Failure` when not, or when the question is interrupted. */
export async function confirm(context: Context, question: string): Promise<void> {
  const answer = await context.terminal.ask(`\n${question}\nOnly "yes" goes on: `, context.cancelled);
  if (context.cancelled.aborted) {
    throw cancelledFailure('The question was interrupted. Nothing was changed.');
  }
  if (answer !== 'yes') {
    throw new Failure(EXIT.cancelled, {
      code: 'not_confirmed',
      summary: 'Not confirmed',
      detail: 'The answer was not "yes". Nothing was changed.',
    });
  }
}
