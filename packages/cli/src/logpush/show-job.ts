/** Log-push jobs and requests for them, for people and programs. Every credential is taken out. */

import type { LogpushJob } from 'cloudflare/resources/logpush/jobs';
import { harmless, type Style, wrap } from '../views/style.ts';
import { tableText } from '../views/table.ts';
import type { Message } from '../views/view.ts';
import { redactDestination } from './destination.ts';
import { type JobBody, redactJob } from './job.ts';

/** Whether the last delivery failed: Cloudflare sets `error_message` until one succeeds. */
function healthOf(job: LogpushJob): string {
  if (job.error_message) return 'failing';
  return job.enabled === false ? 'disabled' : 'ok';
}

const orDash = (value: unknown) => (value === undefined || value === null || value === '' ? '-' : String(value));

export function jobsShown(jobs: readonly LogpushJob[], where: string): Message {
  const shown = jobs.map(redactJob);
  return {
    stream: 'out',
    json: () => shown.map((job) => jobEvent(job, `Job ${job.id}`)),
    human: (style) => {
      if (shown.length === 0) return `There are no log-push jobs in ${where}.\n`;
      const rows = shown.map((job) => [
        orDash(job.id),
        orDash(job.dataset),
        orDash(job.name),
        healthOf(job),
        orDash(job.last_complete),
        orDash(job.destination_conf).replace(/\?.*$/, ''),
      ]);
      return tableText(['ID', 'DATASET', 'NAME', 'STATE', 'LAST DELIVERY', 'DESTINATION'], rows, style, {
        paintRow: (line, index) => (shown[index]?.error_message ? style.remove(line) : line),
      });
    },
  };
}

function jobEvent(job: LogpushJob, message: string) {
  return { type: 'logpush_job', message, job };
}

/** One job in full. */
export function jobShown(job: LogpushJob, headline?: string): Message {
  const shown = redactJob(job);
  return {
    stream: 'out',
    json: () => [jobEvent(shown, headline ?? `Job ${shown.id}`)],
    human: (style) => (headline === undefined ? '' : `${style.add(headline)}\n\n`) + jobText(shown, style),
  };
}

function jobText(job: LogpushJob, style: Style): string {
  const options = job.output_options;
  const lines: (readonly [string, unknown])[] = [
    ['id', job.id],
    ['name', job.name],
    ['dataset', job.dataset],
    ['enabled', job.enabled],
    ['destination', job.destination_conf],
    ['fields', options?.field_names?.join(', ')],
    ['timestamps', options?.timestamp_format],
    ['sample rate', options?.sample_rate],
    ['filter', (job as { readonly filter?: unknown }).filter],
    ['max bytes', job.max_upload_bytes],
    ['max records', job.max_upload_records],
    [
      'max interval',
      typeof job.max_upload_interval_seconds === 'number' ? `${job.max_upload_interval_seconds} s` : undefined,
    ],
    ['last delivery', job.last_complete],
    ['last failure', job.last_error],
    ['failure', job.error_message],
  ];
  const margin = 15;
  return lines
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([label, value]) => {
      const text = wrap(harmless(String(value)), style.width, ' '.repeat(margin)).slice(margin);
      return `${style.faint(label.padEnd(margin))}${label === 'failure' ? style.remove(text) : text}\n`;
    })
    .join('');
}

export interface PlannedRequest {
  readonly method: 'POST' | 'PUT';
  readonly url: string;
  readonly body: Partial<JobBody>;
}

/** The request that `--dry-run` did not send. */
export function requestShown({ method, url, body }: PlannedRequest): Message {
  const shown = {
    ...body,
    ...(body.destination_conf !== undefined && { destination_conf: redactDestination(body.destination_conf) }),
  };
  return {
    stream: 'out',
    json: () => [{ type: 'logpush_request', message: `${method} ${url}`, method, url, body: shown }],
    human: (style) =>
      `${style.strong(`${method} ${url}`)}\nContent-Type: application/json\n\n${JSON.stringify(shown, null, 2)}\n`,
  };
}
