/** A config file without its secrets, so that its lines can be shown beside what is wrong with them. */

/** The keys whose values may be shown. The list is of what is harmless, since a mistyped key must not give a token away. */
const HARMLESS_KEYS = new Set(['api_base_url', 'org', 'state_lock_file_path']);
const HARMLESS_WORDS = /^(?:true|false|null|-?\d{1,6})$/;
const VARIABLE = /^\$\{\w*\}?$/;

/** Where an address may carry a secret: a user name and password before the host, and all that follows the path. */
const IN_ADDRESS = /(?<=^[^/@?#]*\/\/)[^/?#]*(?=@)|(?<=[?#]).+/g;

/** Quoted texts, closed on their line or not, and bare words. */
const TOKENS = /"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[^\s{}[\]:,"']+/g;

/** `text` with every value that may be a secret replaced by as many asterisks; works on broken JSON too. */
export function hideTokens(text: string): string {
  let key = '';
  return text.replace(TOKENS, (token, offset: number) => {
    const quote = /^["']/.exec(token)?.[0] ?? '';
    const isClosed = quote !== '' && token.length > 1 && token.endsWith(quote);
    const inner = token.slice(quote.length, isClosed ? -1 : undefined);
    if (/^\s*:/.test(text.slice(offset + token.length, offset + token.length + 80))) {
      key = inner;
      return token;
    }
    if (HARMLESS_WORDS.test(inner) || VARIABLE.test(inner)) return token;
    const shown = HARMLESS_KEYS.has(key) ? inner.replace(IN_ADDRESS, asterisks) : asterisks(inner);
    return `${quote}${shown}${isClosed ? quote : ''}`;
  });
}

const asterisks = (text: string): string => '*'.repeat(text.length);
