/** Removes one kind of character from the end of a text; a regular expression would take quadratic time. */
export function trimEndOf(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end--;
  return text.slice(0, end);
}
