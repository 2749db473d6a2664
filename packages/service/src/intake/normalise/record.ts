/** Turns one delivered line into the rows of the log store: the record, and for a worker's run its console lines and exceptions. */
import { DATASETS, recogniseDataset } from '@obsiac/model';
import { ABSENT_VALUES } from '../../log-store/columns.ts';
import { COLUMNS, RENAMED_FIELDS, type RecordRow } from '../../log-store/index.ts';
import { PLAIN_DATASETS } from '../../log-store/plain-datasets.ts';
import { describe } from './body.ts';
import type { Draft } from './draft.ts';
import type { JsonObject } from './exact-json.ts';
import { toNanoseconds } from './time.ts';
import { addAttribute, columnValue, pathPart } from './values.ts';
import { workerRows } from './worker.ts';

/** The dataset of records that nothing is known of. */
export const UNKNOWN_DATASET = 'unknown';

/** Known names by their lower case: some senders change the case of every field. */
const CANONICAL: ReadonlyMap<string, string> = new Map(
  [...COLUMNS.keys(), ...Object.values(DATASETS).flatMap((dataset) => Object.keys(dataset.fields))].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

/** The dataset of a record by the names of its fields. */
export function datasetOf(names: readonly string[]): string {
  const canonical = () => names.map((name) => CANONICAL.get(name.toLowerCase()) ?? name);
  return recogniseDataset(names) ?? recogniseDataset(canonical()) ?? UNKNOWN_DATASET;
}

/**
 * @param line the record as delivered; `raw_base64` when its bytes are not good UTF-8
 * @param receivedAt nanoseconds since the Unix epoch, the time of a record that has none of its own
 */
export function rowsOf(
  dataset: string,
  record: JsonObject,
  line: { readonly raw: string } | { readonly raw_base64: string },
  receivedAt: string,
): RecordRow[] {
  const row: Draft = { timestamp: receivedAt, attributes: {}, ...line };
  fillFields(row, record);
  const time = timeOf(dataset, record);
  row.timestamp = time?.nanoseconds ?? receivedAt;
  // The store's own way of reading these datasets keeps the time as the record's time alone.
  if (time !== undefined && Object.hasOwn(PLAIN_DATASETS, dataset)) delete row.attributes[time.field];
  if (dataset === 'workers_trace_events') return workerRows(row, record);
  return [Object.assign(row, describe(dataset, row, 'raw' in line ? line.raw : ''))];
}

/** Each field goes into its column, or else beside the attributes. */
function fillFields(row: Draft, record: JsonObject): void {
  for (const [given, value] of Object.entries(record)) {
    const known = COLUMNS.has(given) ? given : (CANONICAL.get(given.toLowerCase()) ?? given);
    const name = RENAMED_FIELDS.get(known) ?? known;
    const kind = COLUMNS.get(name);
    const cell = kind === undefined ? undefined : columnValue(kind, value);
    if (cell === undefined || (name !== known && isFilled(row[name])))
      addAttribute(row.attributes, pathPart(given), value);
    else if (isFilled(cell) && String(cell) !== String(ABSENT_VALUES.get(name) ?? '')) row[name] = cell;
  }
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

/** Names that records of unknown datasets are likely to keep their time under, compared in lower case. */
const USUAL_TIMES = ['timestamp', '@timestamp', 'time', 'datetime', 'date', 'edgestarttimestamp', 'ts'];

function timeOf(dataset: string, record: JsonObject): { field: string; nanoseconds: string } | undefined {
  const known = Object.hasOwn(DATASETS, dataset) ? DATASETS[dataset] : undefined;
  const names = known ? [known.timestamp_field, ...(known.other_timestamp_fields ?? [])] : [];
  for (const field of names) {
    const nanoseconds = toNanoseconds(record[field]);
    if (nanoseconds !== undefined) return { field, nanoseconds };
  }
  const byLowerCase = new Map(Object.keys(record).map((name) => [name.toLowerCase(), name]));
  for (const name of [...names.map((each) => each.toLowerCase()), ...USUAL_TIMES]) {
    const field = byLowerCase.get(name);
    const nanoseconds = field === undefined ? undefined : toNanoseconds(record[field]);
    if (field !== undefined && nanoseconds !== undefined) return { field, nanoseconds };
  }
  return undefined;
}
