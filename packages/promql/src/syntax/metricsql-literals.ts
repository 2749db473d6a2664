/** Numbers and durations in the forms that only VictoriaMetrics takes. */

const SUFFIXES: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9, t: 1e12 };
const BINARY_SUFFIXES: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** Reads `1Ki`, `5MB`, `2.5G`: decimal powers, or binary ones with an i. */
export function metricsqlNumber(text: string): number | undefined {
  const match = /^(.*?)([kmgt])(i?)b?$/i.exec(text);
  if (match === null) return undefined;
  const table = match[3] === '' ? SUFFIXES : BINARY_SUFFIXES;
  const value = Number(match[1]) * table[match[2]!.toLowerCase()]!;
  return Number.isFinite(value) ? value : undefined;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};

/** Reads `1.5h`, `1H30M` and other orders of units. Steps (`5i`) have no length of their own: undefined. */
export function metricsqlDuration(text: string): number | undefined {
  let ms = 0;
  for (const [, amount, unit] of text.toLowerCase().matchAll(/([0-9.]+)(ms|[smhdwyi])/g)) {
    const length = UNIT_MS[unit!];
    if (length === undefined) return undefined;
    ms += Number(amount) * length;
  }
  return Math.abs(ms) <= Number.MAX_SAFE_INTEGER ? Math.round(ms) : undefined;
}
