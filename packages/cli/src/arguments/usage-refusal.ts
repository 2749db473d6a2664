/** Says what is wrong with a command line, with the nearest known words. Loaded only when something is. */
import { didYouMean } from '@obsiac/model';
import { type Failure, usageFailure } from '../failure.ts';
import type { UsageProblem } from './parse.ts';

/** One failure for all problems; `command` is the command they belong to, if one was found. */
export function usageRefusal(problems: readonly UsageProblem[], command: string | null): Failure {
  const sentences = problems.map(({ sentence, unknown }) =>
    unknown === undefined ? sentence : `${sentence}${didYouMean(unknown.word, unknown.candidates)}`,
  );
  const help = command === null ? 'obsiac --help' : `obsiac ${command} --help`;
  const [first = '', ...more] = sentences;
  return usageFailure(first, [...more, `Run "${help}" to see what there is.`].join('\n'));
}
