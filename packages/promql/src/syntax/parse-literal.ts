/** Parses numbers, strings and the durations of ranges, offsets and @. */
import type { NumberLiteral, StringLiteral } from './ast.ts';
import type { Cursor } from './cursor.ts';
import { parseDuration, parseNumber, secondsToMs } from './literals.ts';
import { metricsqlDuration, metricsqlNumber } from './metricsql-literals.ts';
import { clip } from './problem.ts';

export function stringLiteral(p: Cursor): StringLiteral {
  const { from, to } = p;
  const value = p.takeString();
  p.type = 'string';
  return { kind: 'stringLiteral', value, span: { from, to } };
}

/** A number, or a duration that stands for its seconds (Prometheus 3.x). */
export function numberLiteral(p: Cursor): NumberLiteral {
  const { from, to } = p;
  const duration = p.at('duration');
  const value = duration ? takeDuration(p) / 1000 : takeNumber(p);
  p.type = 'scalar';
  return { kind: 'numberLiteral', value, duration, span: { from, to } };
}

function takeNumber(p: Cursor): number {
  const { text, from, to } = p;
  let value = parseNumber(text);
  if (value === undefined && p.metricsql) {
    value = metricsqlNumber(text);
    if (value !== undefined) p.notice(from, to, `"${clip(text)}" is a number with a size suffix.`);
  }
  if (value === undefined) p.fail(from, to, `"${clip(text)}" is not a number, or is too large for one.`);
  p.advance();
  return value;
}

/** Milliseconds of the duration token at hand. */
function takeDuration(p: Cursor): number {
  const { text, from, to } = p;
  const result = parseDuration(text);
  let ms = 'ms' in result ? result.ms : undefined;
  if (ms === undefined && p.metricsql) {
    ms = metricsqlDuration(text);
    if (ms !== undefined) p.notice(from, to, `"${clip(text)}" is a duration in a looser form.`);
  }
  if (ms === undefined) {
    if ('reason' in result && result.reason === 'range') p.fail(from, to, 'The duration is longer than 292 years.');
    p.fail(
      from,
      to,
      `"${clip(text)}" is not a duration.`,
      'Use whole numbers, units from large to small and each once (y, w, d, h, m, s, ms), such as 1h30m.',
    );
  }
  p.advance();
  return ms;
}

export interface SignedDuration {
  /** Cut to whole milliseconds as Prometheus cuts it, so not always zero when this is. */
  readonly ms: number;
  readonly isZero: boolean;
}

/** A number of seconds or a duration, with any signs, as after offset and inside brackets. */
export function signedDuration(p: Cursor, where: string): SignedDuration {
  const from = p.from;
  let signs = 0;
  let negative = false;
  while (p.at('-') || p.at('+')) {
    if (p.at('-')) negative = !negative;
    signs++;
    p.advance();
  }
  const { ms, isZero } = unsignedDuration(p, where, from);
  if ((signs > 1 || p.inBrackets) && isArithmetic(p.kind)) durationArithmetic(p, from);
  return { ms: negative && ms !== 0 ? -ms : ms, isZero };
}

function isArithmetic(kind: string): boolean {
  return '+-*/%^'.includes(kind);
}

function durationArithmetic(p: Cursor, from: number): never {
  p.fail(from, p.to, 'Arithmetic on durations is experimental in Prometheus and not supported.', 'Write the result.');
}

function unsignedDuration(p: Cursor, where: string, from: number): SignedDuration {
  if (p.at('duration')) {
    const ms = takeDuration(p);
    return { ms, isZero: ms === 0 };
  }
  if (p.at('(') || (p.at('word') && /^(?:step|range|min|max)$/i.test(p.text))) durationArithmetic(p, from);
  if (!p.at('number')) p.unexpected(`Expected a duration ${where}`, 'Write one such as 5m.');
  const seconds = takeNumber(p);
  const ms = secondsToMs(seconds);
  if (ms === undefined) p.fail(from, p.lastTo, 'The duration is longer than 292 years.');
  return { ms, isZero: seconds === 0 };
}

/** The time of `@`, in milliseconds since 1970: seconds (or a duration) with an optional sign. */
export function timestamp(p: Cursor): number {
  const from = p.from;
  const sign = p.at('-') ? -1 : 1;
  if (p.at('-') || p.at('+')) p.advance();
  if (!p.at('number') && !p.at('duration')) {
    p.unexpected('Expected a time after @', 'Write seconds since 1970, start() or end().');
  }
  const seconds = p.at('duration') ? takeDuration(p) / 1000 : takeNumber(p);
  if (!Number.isFinite(seconds) || seconds >= 2 ** 63) p.fail(from, p.lastTo, 'The time after @ is out of range.');
  const ms = Math.round(seconds * 1000);
  return ms === 0 ? 0 : sign * ms;
}
