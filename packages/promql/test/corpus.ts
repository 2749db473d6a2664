/** Expressions with the verdict of Prometheus 3.5 on each: the parser must accept and refuse alike. */
import corpus from './testdata/corpus.json' with { type: 'json' };

export interface CorpusGroup {
  readonly topic: string;
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
}

export const CORPUS: readonly CorpusGroup[] = corpus;

/** Every valid expression of the corpus. */
export const VALID: readonly string[] = CORPUS.flatMap((group) => group.valid);

/** Every invalid expression of the corpus. */
export const INVALID: readonly string[] = CORPUS.flatMap((group) => group.invalid);

/** Where the parser refuses on purpose what the server takes. */
export const DEVIATIONS: readonly { readonly query: string; readonly reason: string }[] = [
  { query: 'foo offset nan', reason: 'The server reads an offset of minus 292 years.' },
  { query: 'a[5 m]', reason: 'The server takes a word that starts with m or s for a colon: a[5s:].' },
];
