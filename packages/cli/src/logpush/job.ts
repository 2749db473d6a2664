/** The job object that is sent to the log-push API. */
import { DATASETS, defaultFields } from '@obsiac/model';
import type { JobCreateParams, LogpushJob } from 'cloudflare/resources/logpush/jobs';
import { redactDestination } from './destination.ts';

export interface JobRequest {
  readonly name: string;
  readonly dataset: string;
  readonly destination: string;
  /** Null: the dataset's default fields. */
  readonly fields: readonly string[] | null;
  readonly enabled: boolean;
  /** The match filter as JSON text; null for every event. */
  readonly filter: string | null;
  /** In (0, 1]; null for all. */
  readonly sampleRate: number | null;
  readonly limits: JobLimits;
}

/** Null leaves a limit to Cloudflare. */
export interface JobLimits {
  readonly bytes: number | null;
  readonly records: number | null;
  readonly seconds: number | null;
}

/** Ranges of Cloudflare's API documentation. */
export const LIMIT_RANGES = {
  bytes: { least: 5_000_000, most: 1_000_000_000 },
  records: { least: 1_000, most: 1_000_000 },
  seconds: { least: 30, most: 300 },
} as const;

export type JobBody = Omit<JobCreateParams, 'zone_id' | 'account_id'>;

/**
 * The body of `POST …/logpush/jobs`, members in the order of the documentation. `timestamp_format` is `unixnano`: the intake
 * keeps nanoseconds, and no other format has them for every field.
 */
export function jobBody(request: JobRequest): JobBody {
  const known = DATASETS[request.dataset];
  const fields = request.fields ?? (known ? defaultFields(known) : []);
  return {
    name: request.name,
    output_options: {
      field_names: [...fields],
      timestamp_format: 'unixnano',
      ...(request.sampleRate !== null && { sample_rate: request.sampleRate }),
    },
    destination_conf: request.destination,
    dataset: request.dataset as JobBody['dataset'],
    enabled: request.enabled,
    ...(request.filter !== null && { filter: request.filter }),
    ...(request.limits.bytes !== null && { max_upload_bytes: request.limits.bytes as JobBody['max_upload_bytes'] }),
    ...(request.limits.records !== null && { max_upload_records: request.limits.records }),
    ...(request.limits.seconds !== null && { max_upload_interval_seconds: request.limits.seconds }),
  };
}

/** A job for showing: its destination without credentials. */
export function redactJob(job: LogpushJob): LogpushJob {
  return {
    ...job,
    ...(job.destination_conf && { destination_conf: redactDestination(job.destination_conf) }),
    ...(job.error_message && { error_message: redactDestination(job.error_message) as typeof job.error_message }),
  };
}
