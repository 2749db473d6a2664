/** Parts of a date in UTC from seconds since 1970, for any number: years far beyond JavaScript's Date included. */

const DAY = 86_400;
/** A number that is no 64-bit integer becomes the smallest one in Go on amd64, and its clock wraps that to this. */
const WRAPPED = 9_223_372_036_854_775_808n;

/** Whole seconds as days since 1970 and the second of the day. */
interface Moment {
  readonly days: number;
  readonly second: number;
}

function moment(value: number): Moment {
  const seconds = Math.trunc(value);
  if (Number.isSafeInteger(seconds)) {
    const days = Math.floor(seconds / DAY);
    return { days, second: seconds - days * DAY };
  }
  const inRange = seconds >= -(2 ** 63) && seconds < 2 ** 63;
  const exact = inRange ? BigInt(seconds) : WRAPPED;
  const second = ((exact % 86_400n) + 86_400n) % 86_400n;
  return { days: Number((exact - second) / 86_400n), second: Number(second) };
}

interface CivilDate {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
}

/** Days since 1970-01-01 as a date of the Gregorian calendar: counts 400-year eras of years that begin in March. */
function civil(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  };
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] as const;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

function dayOfYear({ year, month, day }: CivilDate): number {
  return DAYS_BEFORE_MONTH[month - 1]! + day + (month > 2 && isLeap(year) ? 1 : 0);
}

function daysInMonth({ year, month }: CivilDate): number {
  return month === 2 && isLeap(year) ? 29 : DAYS_IN_MONTH[month - 1]!;
}

/** The date functions of PromQL, by name. Each takes seconds since 1970. */
export const DATE_FUNCTIONS: ReadonlyMap<string, (seconds: number) => number> = new Map([
  ['minute', (t: number) => Math.floor(moment(t).second / 60) % 60],
  ['hour', (t: number) => Math.floor(moment(t).second / 3_600)],
  // 1970-01-01 was a Thursday; Sunday is 0.
  ['day_of_week', (t: number) => (((moment(t).days + 4) % 7) + 7) % 7],
  ['day_of_month', (t: number) => civil(moment(t).days).day],
  ['day_of_year', (t: number) => dayOfYear(civil(moment(t).days))],
  ['days_in_month', (t: number) => daysInMonth(civil(moment(t).days))],
  ['month', (t: number) => civil(moment(t).days).month],
  ['year', (t: number) => civil(moment(t).days).year],
]);
