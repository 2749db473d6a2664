/** Command lines for people to copy: quoted as a POSIX shell needs it. */

/** The word as it is, or in single quotes when a shell would read it differently. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** `obsiac` with these words. */
export function commandLine(words: readonly string[]): string {
  return ['obsiac', ...words.map(shellWord)].join(' ');
}
