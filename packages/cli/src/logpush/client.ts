/** The log-push API through Cloudflare's official client, with refusals turned into sentences. */
import Cloudflare, { APIError, APIUserAbortError } from 'cloudflare';
import type { LogpushJob } from 'cloudflare/resources/logpush/jobs';
import type { JobBody } from './job.ts';
import { type Refusal, refusalOf } from './refusal.ts';

export type Scope = { readonly zone_id: string } | { readonly account_id: string };

export interface LogpushSettings {
  /** Base address of Cloudflare's API; undefined: the public one. */
  readonly apiUrl: string | undefined;
  /** A token, or the account's e-mail with its key. */
  readonly token: string | undefined;
  readonly email: string | undefined;
  readonly key: string | undefined;
  readonly scope: Scope;
  /** Aborted: requests under way are dropped. */
  readonly signal?: AbortSignal;
}

/** Cloudflare refused or did not answer. The original error is not kept as a cause: it may quote the destination. */
export class LogpushError extends Error {
  readonly code: Refusal['code'];
  readonly detail: string;

  constructor(refusal: Refusal) {
    super(refusal.summary);
    this.name = 'LogpushError';
    this.code = refusal.code;
    this.detail = refusal.detail;
  }
}

export interface LogpushClient {
  create(body: JobBody): Promise<LogpushJob>;
  list(): Promise<LogpushJob[]>;
  get(id: number): Promise<LogpushJob>;
  /** Partial: members that are absent stay as they are. */
  update(id: number, body: Partial<JobBody>): Promise<LogpushJob>;
  delete(id: number): Promise<void>;
  /** Field name to a description that begins with the type, as Cloudflare itself lists them. */
  fields(dataset: string): Promise<Readonly<Record<string, string>>>;
}

export function createLogpushClient(settings: LogpushSettings): LogpushClient {
  const client = new Cloudflare({
    baseURL: settings.apiUrl ?? null,
    apiToken: settings.token ?? null,
    apiEmail: settings.email ?? null,
    apiKey: settings.key ?? null,
    maxRetries: 2,
    timeout: 60_000,
    logLevel: 'off',
  });
  const { scope } = settings;
  const options = settings.signal ? { signal: settings.signal } : {};
  const { jobs, datasets } = client.logpush;
  return {
    create: (body) => translated(async () => present(await jobs.create({ ...scope, ...body }, options))),
    list: () =>
      translated(async () => {
        const all: LogpushJob[] = [];
        for await (const job of jobs.list(scope, options)) if (job) all.push(job);
        return all;
      }),
    get: (id) => translated(async () => present(await jobs.get(id, scope, options))),
    update: (id, body) => translated(async () => present(await jobs.update(id, { ...scope, ...body }, options))),
    delete: (id) => translated(async () => void (await jobs.delete(id, scope, options))),
    fields: (dataset) =>
      translated(async () => (await datasets.fields.get(dataset as never, scope, options)) as Record<string, string>),
  };
}

function present(job: LogpushJob | null): LogpushJob {
  if (job === null) throw new LogpushError(refusalOf(404, [], 'The answer holds no job.'));
  return job;
}

async function translated<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof APIError) || error instanceof APIUserAbortError) throw error;
    const errors = (error.errors ?? []) as readonly { code?: number; message?: string }[];
    throw new LogpushError(refusalOf(error.status, errors, error.message));
  }
}
