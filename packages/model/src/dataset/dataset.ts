/** What is known of Cloudflare's Logpush datasets: scope, time field, and each field's type and unit. */
import catalogue from './datasets.json' with { type: 'json' };

/** Cloudflare's own words for types. `int or string` is a timestamp that follows the job's timestamp format. */
export type DatasetFieldType =
  | 'int'
  | 'float'
  | 'bool'
  | 'string'
  | 'object'
  | 'array[string]'
  | 'array[int]'
  | 'array[float]'
  | 'array[bool]'
  | 'array[object]'
  | 'int or string'
  | (string & {});

export interface DatasetField {
  readonly type: DatasetFieldType;
  readonly description: string;
  /** For example `ms`, `ns`, `bytes`. */
  readonly unit?: string;
  /** Values that are known to occur; others may. */
  readonly values?: readonly string[];
  /** Cloudflare advises against it. */
  readonly deprecated?: boolean;
  /** No longer documented, but found in data of older jobs. */
  readonly legacy?: boolean;
  readonly only_scope?: string;
}

export interface Dataset {
  /** Whether jobs for it belong to a zone, an account, or either. */
  readonly scope: 'zone' | 'account' | 'both';
  /** The field that holds a record's time. */
  readonly timestamp_field: string;
  /** Fields to take the time from when that one is absent. */
  readonly other_timestamp_fields?: readonly string[];
  /** A correlation id; not a unique key. */
  readonly id_field?: string;
  readonly fields: Readonly<Record<string, DatasetField>>;
}

/** Dataset name to what is known of it. Datasets that are not here are stored all the same. */
export const DATASETS: Readonly<Record<string, Dataset>> = catalogue as Readonly<Record<string, Dataset>>;

/** Fields for a job when the user names none: all that Cloudflare documents today and that is not advised against. */
export function defaultFields(dataset: Dataset): string[] {
  return Object.entries(dataset.fields)
    .filter(([, field]) => !field.deprecated && !field.legacy)
    .map(([name]) => name);
}

/** A record is taken for a dataset only when this share of its fields is known there. */
const LEAST_SHARE = 0.5;

interface Candidate {
  readonly name: string;
  readonly known: ReadonlySet<string>;
  readonly timestamps: readonly string[];
}

const candidates: readonly Candidate[] = Object.entries(DATASETS).map(([name, dataset]) => ({
  name,
  known: new Set(Object.keys(dataset.fields)),
  timestamps: [dataset.timestamp_field, ...(dataset.other_timestamp_fields ?? [])],
}));

/**
 * Recognises the dataset of a record by its field names; undefined when none fits.
 * The best candidate knows the most of the record's fields; a tie goes to the one whose time field the record has,
 * then to the smaller dataset, in which the same fields say more.
 */
export function recogniseDataset(fieldNames: readonly string[]): string | undefined {
  let best: { candidate: Candidate; known: number; timed: boolean } | undefined;
  for (const candidate of candidates) {
    const known = fieldNames.filter((name) => candidate.known.has(name)).length;
    if (known === 0 || known < fieldNames.length * LEAST_SHARE) continue;
    const timed = candidate.timestamps.some((name) => fieldNames.includes(name));
    const order =
      best === undefined
        ? 1
        : known - best.known || Number(timed) - Number(best.timed) || best.candidate.known.size - candidate.known.size;
    if (order > 0) best = { candidate, known, timed };
  }
  return best?.candidate.name;
}
