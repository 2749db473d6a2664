/** What may be shown of a secret: enough to tell one from another, too little to use it. */

const MASK = '********';

/** Characters at the end of a long secret that stay readable. */
const SHOWN = 4;
const LONG = 16;

/** `https://hooks.slack.com/********qX4z` for an address, `********4f2a` for a key, `********` for a short one. */
export function maskSecret(secret: string): string {
  if (secret === '') return '';
  const tail = secret.length >= LONG ? secret.slice(-SHOWN) : '';
  if (!/^https?:\/\//i.test(secret) || !URL.canParse(secret)) return MASK + tail;
  return `${new URL(secret).origin}/${MASK}${tail}`;
}

/** A client that sends back the mask it was shown wants the secret to stay as it is. */
export function unmask(given: string, stored: string): string {
  return stored !== '' && given === maskSecret(stored) ? stored : given;
}

/** Every value masked, the names kept: for headers. */
export function maskValues(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, maskSecret(value)]));
}

/** `unmask` for each value by its name. */
export function unmaskValues(
  given: Readonly<Record<string, string>>,
  stored: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, unmask(value, stored[name] ?? '')]));
}
