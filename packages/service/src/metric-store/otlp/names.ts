/**
 * Names of metrics and labels, from OpenTelemetry's to Prometheus'.
 * As the OpenTelemetry specification says (compatibility/prometheus_and_openmetrics.md): dots to underscores, units as words, `_total`.
 */

/** UCUM units with the words that Prometheus uses. */
const UNITS: Readonly<Record<string, string>> = {
  d: 'days',
  h: 'hours',
  min: 'minutes',
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
  By: 'bytes',
  KiBy: 'kibibytes',
  MiBy: 'mebibytes',
  GiBy: 'gibibytes',
  TiBy: 'tibibytes',
  KBy: 'kilobytes',
  MBy: 'megabytes',
  GBy: 'gigabytes',
  TBy: 'terabytes',
  m: 'meters',
  V: 'volts',
  A: 'amperes',
  J: 'joules',
  W: 'watts',
  g: 'grams',
  Cel: 'celsius',
  Hz: 'hertz',
  '1': '',
  '%': 'percent',
};

const PER_UNITS: Readonly<Record<string, string>> = {
  s: 'second',
  m: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
  mo: 'month',
  y: 'year',
};

export interface NamedAs {
  readonly name: string;
  readonly unit: string;
  /** A monotonic sum, which Prometheus calls a counter. */
  readonly counter: boolean;
  readonly gauge: boolean;
}

/** The name of a metric. Its last words are the unit's, then `ratio` of a gauge without unit, or `total` of a counter. */
export function metricName({ name, unit, counter, gauge }: NamedAs): string {
  let words = name.split(/[^A-Za-z0-9:]+/).filter(Boolean);
  for (const word of unitWords(unit)) if (!words.join('_').endsWith(word) && !words.includes(word)) words.push(word);
  const last = counter ? 'total' : gauge && unit === '1' ? 'ratio' : undefined;
  if (last !== undefined) words = [...words.filter((word) => word !== last), last];
  const joined = words.join('_');
  return /^\d/.test(joined) ? `_${joined}` : joined;
}

/** The words of a unit such as `By/s`: `bytes`, `per_second`. What stands in braces is a remark and no unit. */
function unitWords(unit: string): string[] {
  const [main = '', per = ''] = unit.split('/', 2).map((part) => part.trim());
  const plain = (part: string, known: Readonly<Record<string, string>>) =>
    part.includes('{') || part === ''
      ? ''
      : (known[part] ?? part).replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
  const perWord = plain(per, PER_UNITS);
  return [plain(main, UNITS), perWord === '' ? '' : `per_${perWord}`].filter(Boolean);
}

/** The words of a unit joined, for the metadata of a metric. */
export function unitName(unit: string): string {
  return unitWords(unit).join('_');
}

/** The name of a label. */
export function labelName(attribute: string): string {
  const name = attribute.replace(/[^A-Za-z0-9_]/g, '_');
  if (/^\d/.test(name)) return `key_${name}`;
  return name.startsWith('_') && !name.startsWith('__') ? `key${name}` : name;
}
