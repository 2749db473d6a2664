/** Puts environment variables into the texts of a config: `${NAME}` stands for the value, `$${` for a plain `${`. */

export interface ExpandedText {
  readonly text: string;
  /** Variables that are not set, each once. */
  readonly missing: readonly string[];
  /** The `${` that starts no variable, if there is one: offset in the text. */
  readonly malformedAt?: number;
}

const REFERENCE = /\$(\$\{|\{([A-Za-z_][A-Za-z0-9_]*)\}|\{)/g;

export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): ExpandedText {
  const missing = new Set<string>();
  let malformedAt: number | undefined;
  const expanded = text.replace(REFERENCE, (whole, inside: string, name: string | undefined, offset: number) => {
    if (inside.startsWith('$')) return '${';
    if (name === undefined) {
      malformedAt ??= offset;
      return whole;
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) missing.add(name);
    return value ?? '';
  });
  return { text: expanded, missing: [...missing], ...(malformedAt !== undefined && { malformedAt }) };
}
