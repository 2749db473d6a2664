/** Text for Slack: only `&`, `<` and `>` have a meaning that must be taken from them. */

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (char) => ESCAPES[char]!);
}

/** Escaped and cut to a length, with a mark where something is missing; never within an escape or a character. */
export function cutEscaped(text: string, length: number): string {
  const whole = escapeText(text);
  if (whole.length <= length) return whole;
  let kept = '';
  for (const char of text) {
    const next = ESCAPES[char] ?? char;
    if (kept.length + next.length > length - 1) break;
    kept += next;
  }
  return `${kept}…`;
}

/** A link whose text is escaped already; the text alone when the address is empty. */
export function linkText(url: string, escapedLabel: string): string {
  if (url === '') return escapedLabel;
  return `<${escapeText(url.replaceAll('|', '%7C'))}|${escapedLabel.replaceAll('|', '¦')}>`;
}
