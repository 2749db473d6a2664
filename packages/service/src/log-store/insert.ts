/** How batches become rows: the statements by which the engine itself turns delivered lines and prepared records into records. */
import { quoteIdentifier, quoteString } from '../engine/index.ts';
import { ABSENT_VALUES, COLUMN_TYPES, COLUMNS, type ColumnKind, RENAMED_FIELDS } from './columns.ts';
import { PLAIN_DATASETS, type PlainDataset } from './plain-datasets.ts';
import { ATTRIBUTES_TYPE } from './table.ts';

/** The type by which a field of each kind is read out of its line. Times come as number or text. */
const LINE_TYPES: Readonly<Record<ColumnKind, string>> = {
  keyword: 'String',
  text: 'String',
  integer: 'Nullable(Int64)',
  float: 'Nullable(Float64)',
  boolean: 'Nullable(Bool)',
  time: 'String',
  list: 'Array(String)',
};

/** What every row of an insert shares. */
export interface InsertContext {
  /** The table to insert into, quoted. */
  readonly table: string;
  readonly org: string;
  readonly dataset: string;
  /** Nanoseconds since the Unix epoch, in decimal. */
  readonly receivedAt: string;
  readonly storedAt: string;
}

/** The first second of the year 2100: what lies beyond, or before 1970, is no time of an event. */
const LAST_SECOND = 4_102_444_800n;

/**
 * A time as text to nanoseconds since the epoch; null when it is none that can be. Whole numbers are seconds, milliseconds,
 * microseconds or nanoseconds by their size; everything else is read as RFC 3339.
 */
export function nanoseconds(text: string): string {
  const number = `toInt64OrZero(${text})`;
  const ranges = [1n, 1_000n, 1_000_000n, 1_000_000_000n].map((perSecond) => {
    const below = 100_000_000_000n * perSecond;
    const value = `${number} * ${1_000_000_000n / perSecond}`;
    const [limit, end] = [LAST_SECOND * perSecond, perSecond === 1_000_000_000n ? undefined : below];
    return `${number} <= ${limit}, ${value}, ${end === undefined ? '' : `${number} < ${end}, NULL, `}`;
  });
  const scaled = `multiIf(${number} <= 0, NULL, ${ranges.join('')}NULL)`;
  const parsed = `toUnixTimestamp64Nano(parseDateTime64BestEffortOrNull(${text}, 9, 'UTC'))`;
  const written = `if(${parsed} BETWEEN 1 AND ${LAST_SECOND * 1_000_000_000n}, ${parsed}, NULL)`;
  return `multiIf(${text} = '', NULL, match(${text}, '^-?[0-9]+$'), ${scaled}, ${written})`;
}

/** The expression of a column, from the field (or its old name) in the tuple `f`. */
function columnValue(name: string, kind: ColumnKind, sources: readonly string[]): string {
  const fields = sources.map((source) => `f.${quoteIdentifier(source)}`);
  const absent = ABSENT_VALUES.get(name);
  if (kind === 'time') return nanoseconds(fields[0] as string);
  if (kind === 'keyword' || kind === 'text') {
    const value = fields.length === 1 ? (fields[0] as string) : `if(${fields[0]} != '', ${fields[0]}, ${fields[1]})`;
    return absent === undefined ? value : `if(${value} = ${quoteString(String(absent))}, '', ${value})`;
  }
  if (kind === 'list') {
    return fields.length === 1 ? (fields[0] as string) : `if(notEmpty(${fields[0]}), ${fields[0]}, ${fields[1]})`;
  }
  const value = fields.length === 1 ? (fields[0] as string) : `coalesce(${fields.join(', ')})`;
  return absent === undefined ? value : `nullIf(${value}, ${absent})`;
}

/** Columns that a delivered set of fields fills, each with the fields it is taken from, the current name first. */
function columnSources(fields: readonly string[]): Map<string, string[]> {
  const sources = new Map<string, string[]>();
  for (const field of fields) {
    const column = RENAMED_FIELDS.get(field) ?? field;
    if (!COLUMNS.has(column)) continue;
    const found = sources.get(column) ?? [];
    sources.set(column, field === column ? [field, ...found] : [...found, field]);
  }
  return sources;
}

function kindOf(column: string): ColumnKind {
  return COLUMNS.get(column) as ColumnKind;
}

/**
 * The statement that takes delivered lines of one of the plain datasets. Each line must be a JSON object of fields of that dataset
 * with values of their kinds (see plain-lines.ts); every other line goes through `insertRecords`.
 * @param fields top-level fields that occur in the lines; the others are absent.
 */
export function insertLines(context: InsertContext, fields: readonly string[]): string {
  const dataset = PLAIN_DATASETS[context.dataset] as PlainDataset;
  const has = new Set(fields);
  const sources = columnSources(fields);
  const times = dataset.timestamps.filter((field) => has.has(field));
  const read = new Map(times.map((field) => [field, 'String']));
  for (const [column, names] of sources) for (const name of names) read.set(name, LINE_TYPES[kindOf(column)]);
  const elements = [...read].map(([field, type]) => `${quoteIdentifier(field)} ${type}`);
  const received = `toInt64(${context.receivedAt})`;
  const columns = [...sources].map(([column, names]) => [
    quoteIdentifier(column),
    columnValue(column, kindOf(column), names),
  ]);
  const field = (name: string) => {
    const names = sources.get(name);
    return names === undefined ? undefined : columnValue(name, kindOf(name), names);
  };
  const nanos = [...times.map((name) => nanoseconds(`f.${quoteIdentifier(name)}`)), received];
  const { severityNumber, severityText } = severityOf(field('EdgeResponseStatus'));
  const fixed = [
    ['org', quoteString(context.org)],
    ['dataset', quoteString(context.dataset)],
    ['timestamp', `fromUnixTimestamp64Nano(coalesce(${nanos.join(', ')}), 'UTC')`],
    ['observed_timestamp', `fromUnixTimestamp64Nano(${received}, 'UTC')`],
    ['stored', `fromUnixTimestamp64Nano(toInt64(${context.storedAt}), 'UTC')`],
    ['id', `xxHash64(${quoteString(context.dataset)}, line)`],
    ['severity_number', severityNumber],
    ['severity_text', severityText],
    ['service', dataset.service(field)],
    ['body', dataset.body(field)],
    ['raw', 'line'],
  ];
  const all = [...fixed, ...columns];
  const tuple =
    elements.length === 0 ? 'tuple()' : `JSONExtract(line, ${quoteString(`Tuple(${elements.join(', ')})`)})`;
  return `INSERT INTO ${context.table} (${all.map(([name]) => name).join(', ')})
SELECT ${all.map(([, value]) => value).join(', ')}
FROM (SELECT line, ${tuple} AS f FROM input('line String') WHERE line != '')
FORMAT LineAsString`;
}

/** OpenTelemetry severity from an HTTP status: 5xx ERROR, 4xx WARN, the rest INFO. */
function severityOf(status: string | undefined): { severityNumber: string; severityText: string } {
  if (status === undefined) return { severityNumber: '9', severityText: "'INFO'" };
  const code = `ifNull(${status}, 0)`;
  return {
    severityNumber: `multiIf(${code} >= 500, 17, ${code} >= 400, 13, 9)`,
    severityText: `multiIf(${code} >= 500, 'ERROR', ${code} >= 400, 'WARN', 'INFO')`,
  };
}

/**
 * One row as `insertRecords` takes it, a line of JSON. Every field but `timestamp` may be left out. Fields of the kinds of
 * `COLUMNS` stand beside these under their own names.
 */
export interface RecordRow {
  readonly dataset?: string;
  /** Nanoseconds since the Unix epoch, in decimal. */
  readonly timestamp: string;
  readonly observed_timestamp?: string;
  readonly part?: number;
  readonly severity_number?: number;
  readonly severity_text?: string;
  readonly service?: string;
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly body?: string;
  /** Texts and arrays of texts, nested or by dotted names. */
  readonly attributes?: object;
  /** The line as delivered, when it is good UTF-8; otherwise `raw_base64`. */
  readonly raw?: string;
  readonly raw_base64?: string;
  readonly [column: string]: unknown;
}

const RECORD_STRUCTURE = [
  'dataset String',
  'timestamp Int64',
  'observed_timestamp Int64',
  'part UInt16',
  'severity_number UInt8',
  'severity_text String',
  'service String',
  'trace_id String',
  'span_id String',
  'body String',
  `attributes ${ATTRIBUTES_TYPE}`,
  'raw String',
  'raw_base64 String',
];

/** The statement that takes prepared records: lines of `RecordRow`. */
export function insertRecords(context: InsertContext): string {
  const structure = [
    ...RECORD_STRUCTURE,
    ...[...COLUMNS].map(([name, kind]) => `${quoteIdentifier(name)} ${COLUMN_TYPES[kind]}`),
  ].join(', ');
  const raw = "if(raw_base64 != '', base64Decode(raw_base64), raw)";
  const dataset = `if(dataset != '', dataset, ${quoteString(context.dataset)})`;
  const values = [
    ['org', quoteString(context.org)],
    ['dataset', dataset],
    ['timestamp', "fromUnixTimestamp64Nano(timestamp, 'UTC')"],
    [
      'observed_timestamp',
      `fromUnixTimestamp64Nano(if(observed_timestamp != 0, observed_timestamp, toInt64(${context.receivedAt})), 'UTC')`,
    ],
    ['stored', `fromUnixTimestamp64Nano(toInt64(${context.storedAt}), 'UTC')`],
    ['id', `if(part = 0, xxHash64(${dataset}, ${raw}), xxHash64(${dataset}, ${raw}, part))`],
    ['raw', raw],
    ...['part', 'severity_number', 'severity_text', 'service', 'trace_id', 'span_id', 'body', 'attributes'].map(
      (name) => [name, name],
    ),
    ...[...COLUMNS.keys()].map((name) => [quoteIdentifier(name), quoteIdentifier(name)]),
  ];
  return `INSERT INTO ${context.table} (${values.map(([name]) => name).join(', ')})
SELECT ${values.map(([name, value]) => `${value} AS ${name === value ? name : `${(name as string).replaceAll('`', '')}_new`}`).join(', ')}
FROM input(${quoteString(structure)})
FORMAT JSONEachRow`;
}

/**
 * Settings of both statements: exactly-once, and JSON kept as it is written. The rows of a block are bounded besides its bytes (`InsertSizes`): a short
 * line is a row of more than a hundred columns all the same, and a million of them took more memory than the engine has.
 */
export const INSERT_SETTINGS: Readonly<Record<string, string | number>> = {
  max_insert_threads: 1,
  max_threads: 2,
  max_partitions_per_insert_block: '0',
  max_block_size: '32768',
  max_insert_block_size: '32768',
  input_format_try_infer_dates: 0,
  input_format_try_infer_datetimes: 0,
  input_format_null_as_default: 1,
  input_format_skip_unknown_fields: 1,
  input_format_defaults_for_omitted_fields: 0,
  type_json_skip_duplicated_paths: 1,
};
