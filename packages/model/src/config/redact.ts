/** Hides tokens in the text of a config, so that its lines can be shown in messages. */

/** A key with a value that is neither an object nor a list, quoted or not, whatever the syntax around it. */
const FIELD = /((?:["']?)([\w.-]+)["']?\s*[:=]\s*)("(?:\\.|[^"\\\n])*"?|'[^'\n]*'?|[^\s,}\]{["']+)/g;

/** Fields whose values are no secrets and help to understand a message. */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set(['org', 'api_base_url', 'state_lock_file_path']);

/** A long run of characters as tokens have them; no address, path or slug of usual length is one. */
const LONG_WORD = /[A-Za-z0-9_.+=-]{32,}/g;

const CREDENTIALS_IN_ADDRESS = /:\/\/[^\s"'/@]+@/g;

/** The text with everything hidden that may be a token; all other characters keep their line and column. */
export function redactConfig(text: string): string {
  return text
    .replace(
      FIELD,
      (_, start: string, key: string, value: string) => start + (PUBLIC_FIELDS.has(key) ? value : hide(value)),
    )
    .replace(CREDENTIALS_IN_ADDRESS, (part) => `://${'*'.repeat(part.length - 4)}@`)
    .replace(LONG_WORD, (word) => '*'.repeat(word.length));
}

/** Quotes and references to the environment stay. */
function hide(value: string): string {
  return value.replace(/\$\{[A-Za-z_][A-Za-z0-9_]*\}|[^"'\s]/g, (part) => (part.startsWith('${') ? part : '*'));
}
