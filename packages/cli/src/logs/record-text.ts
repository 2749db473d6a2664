/** Records and rows of a search, for people. */
import type { LogRecord } from '@obsiac/api';
import { oneLine, type Style } from '../views/style.ts';
import { cut, tableText } from '../views/table.ts';
import { isoTime } from './search-options.ts';

/** Columns of a table of records, when none are named. */
export const USUAL_COLUMNS = ['timestamp', 'severity_text', 'dataset', 'body'];

const HEADINGS: Readonly<Record<string, string>> = {
  timestamp: 'TIME',
  severity_text: 'SEVERITY',
  body: 'BODY',
  dataset: 'DATASET',
};

/** The names of a record's own members in the query language. */
function memberOf(record: LogRecord, column: string): unknown {
  switch (column) {
    case 'timestamp':
      return isoTime(record.timestamp);
    case 'observed_timestamp':
      return isoTime(record.observed_timestamp);
    case 'id':
    case 'dataset':
    case 'severity_number':
    case 'severity_text':
    case 'service':
    case 'trace_id':
    case 'span_id':
    case 'body':
    case 'raw':
      return record[column];
    default:
      return attributeOf(record.attributes, column);
  }
}

/** An attribute by its name, or inside nested ones by names with dots between. */
function attributeOf(attributes: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(attributes, name)) return attributes[name];
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
    const inner = Object.hasOwn(attributes, name.slice(0, dot)) ? attributes[name.slice(0, dot)] : undefined;
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
      return attributeOf(inner as Readonly<Record<string, unknown>>, name.slice(dot + 1));
    }
  }
  return undefined;
}

export function cellText(value: unknown): string {
  if (value === undefined || value === null) return '-';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const DIGITS = 6;
const LEAST_DECIMALS = 2;

/**
 * A cell of a table of rows. Numbers that are not whole have six digits, more only before the point: what an average or a percentile says beyond
 * them is the noise of its arithmetic.
 */
export function rowCellText(value: unknown): string {
  if (typeof value !== 'number' || !Number.isFinite(value) || Number.isInteger(value)) return cellText(value);
  const whole = Math.trunc(Math.abs(value));
  if (whole === 0) return String(Number(value.toPrecision(DIGITS)));
  return String(Number(value.toFixed(Math.max(LEAST_DECIMALS, DIGITS - String(whole).length))));
}

/** Colours a line by OpenTelemetry's severity number: errors, warnings, and what is below information. */
export function paintSeverity(line: string, severity: number, style: Style): string {
  if (severity >= 17) return style.remove(line);
  if (severity >= 13) return style.change(line);
  return severity >= 1 && severity <= 8 ? style.faint(line) : line;
}

/** @param fit cut lines at the width of the page */
export function recordsText(
  records: readonly LogRecord[],
  columns: readonly string[],
  style: Style,
  fit: boolean,
): string {
  const rows = records.map((record) => columns.map((column) => cellText(memberOf(record, column))));
  return tableText(
    columns.map((column) => HEADINGS[column] ?? column),
    rows,
    style,
    { fit, paintRow: (line, index) => paintSeverity(line, records[index]?.severity_number ?? 0, style) },
  );
}

/** One record on a line, for a stream whose column widths cannot be known. */
export function recordLine(record: LogRecord, columns: readonly string[], style: Style, fit: boolean): string {
  const cells = columns.map((column) => {
    const text = oneLine(cellText(memberOf(record, column)));
    return column === 'severity_text' ? text.padEnd(5) : text;
  });
  const line = cells.join('  ');
  return `${paintSeverity(fit ? cut(line, style.width) : line, record.severity_number, style)}\n`;
}

/** A bar of eighths of a character. */
export function bar(value: number, most: number, width: number): string {
  if (most <= 0 || value <= 0) return '';
  const eighths = Math.max(1, Math.round((value / most) * width * 8));
  const rest = eighths % 8;
  return '█'.repeat(Math.floor(eighths / 8)) + (rest === 0 ? '' : ('▏▎▍▌▋▊▉'[rest - 1] ?? ''));
}
