/** Every setting of the service: one definition for flags, variables, the file, their checks and the documentation. */
import { z } from 'zod';

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .union(
      [
        z
          .string()
          .regex(/^\d{1,15}$/)
          .transform(Number),
        z.number(),
      ],
      'must be a whole number',
    )
    .pipe(z.int('must be a whole number').min(minimum).max(maximum));

const flag = z.union(
  [z.boolean(), z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1')],
  'must be true or false',
);

const httpUrl = z
  .string()
  .refine(isHttpUrl, 'must be an http:// or https:// address')
  .transform((url) => url.replace(/\/+$/, ''));

const databaseUrl = z.string().regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://');

const file = z.string().min(1);

/** `30d`, or `30d,http_requests=7d`. */
const RETENTION = /^\s*\d{1,5}d(\s*,\s*[\w.-]+\s*=\s*\d{1,5}d)*\s*$/;

/** In the file a setting is called by its key here, as a flag `--data-dir`, as a variable `OBSIAC_DATA_DIR`. */
export const settingsSchema = z
  .object({
    data_dir: z
      .string()
      .min(1)
      .default('.obsiac')
      .describe('Directory for everything the service keeps. Made when it is not there.'),
    host: z
      .string()
      .min(1)
      .default('127.0.0.1')
      .describe('Address to listen on. `0.0.0.0` listens on all; put TLS in front then.'),
    port: wholeNumber(0, 65_535).default(7780).describe('Port to listen on; 0 takes a free one, which the log names.'),
    org: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be a slug: lower-case letters, digits, - and _')
      .default('default')
      .describe('Slug of the organisation that the first start creates.'),
    public_url: httpUrl
      .optional()
      .describe(
        'Address under which clients reach the service, written into `config.json`. Default: where it listens.',
      ),
    database_url: databaseUrl
      .optional()
      .describe(
        'PostgreSQL 15 or newer: `postgres://user:password@host/database`. Default: SQLite in the data directory.',
      ),
    secret_key: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Key that seals stored credentials and signs access tokens: 32 bytes in base64 or hex, the same for all processes of an installation. Default: `secret.key` in the data directory.',
      ),
    body_limit: wholeNumber(1024, 1_073_741_824)
      .default(1_048_576)
      .describe('Largest request body of the API in bytes; more is answered 413.'),
    rate_limit: wholeNumber(1, 1_000_000_000)
      .default(60_000)
      .describe('Requests a minute that one token may make of one process; more is answered 429.'),
    exchange_rate_limit: wholeNumber(1, 1_000_000_000)
      .default(600)
      .describe('Token exchanges a minute that one address may make of one process; more is answered 429.'),
    trust_proxy: flag
      .default(false)
      .describe('Take the client address from `X-Forwarded-For`. Only behind a proxy that sets it.'),
    log_level: z
      .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
      .default('info')
      .describe('Least severe level that is logged.'),
    tls_cert: file
      .optional()
      .describe('Certificate chain in PEM for the port that logs are delivered to; renewed files need a restart.'),
    tls_key: file.optional().describe('Private key in PEM that belongs to `tls_cert`.'),
    logs: flag
      .default(true)
      .describe(
        'Take in, store and search logs. `false` (or `--no-logs`): alerts only, without the log engine and without its memory.',
      ),
    intake_port: wholeNumber(0, 65_535)
      .optional()
      .describe('A port of its own for `/cloudflare` and `/v1/logs`. Default: they are on `port`.'),
    intake_host: z.string().min(1).optional().describe('Address for `intake_port` to listen on. Default: `host`.'),
    intake_public_url: httpUrl
      .optional()
      .describe(
        'Address under which senders reach the intake, written into `intake.json`. Default: `public_url`, or where it listens.',
      ),
    intake_body_limit: wholeNumber(1024, 4_294_967_296)
      .default(268_435_456)
      .describe('Largest compressed batch in bytes; more is answered 413.'),
    intake_batch_limit: wholeNumber(1024, 17_179_869_184)
      .default(1_073_741_824)
      .describe('Largest batch in bytes after decompression; more is answered 413.'),
    intake_line_limit: wholeNumber(1024, 67_108_864)
      .default(1_048_576)
      .describe('Longest line of a batch in bytes; a longer one is rejected, not its batch.'),
    otlp_body_limit: wholeNumber(1024, 1_073_741_824)
      .default(67_108_864)
      .describe('Largest OTLP request in bytes, also after decompression; more is answered 413.'),
    intake_memory: wholeNumber(4_194_304, 68_719_476_736)
      .default(536_870_912)
      .describe(
        'Bytes of memory that batches under way may hold together; when there is no more, senders wait, then get 503.',
      ),
    spool_limit: wholeNumber(1_048_576, 1_099_511_627_776)
      .default(4_294_967_296)
      .describe('Bytes of accepted batches that may wait on disk for the log engine; more is answered 503.'),
    disk_reserve: wholeNumber(0, 1_099_511_627_776)
      .default(536_870_912)
      .describe('Bytes of the disk that intake leaves free; when they are touched, batches are answered 503.'),
    log_retention: z
      .string()
      .regex(RETENTION, 'must be days, then perhaps datasets with their own: 30d,http_requests=7d')
      .default('30d')
      .describe('Days that log records are kept, and datasets that differ: `30d,http_requests=7d,audit_logs=365d`.'),
    metric_retention: z
      .string()
      .regex(/^\d{1,5}d$/, 'must be days, such as 30d')
      .default('30d')
      .describe('Days that metrics sent to the service are kept; samples that are older are not taken.'),
    metric_body_limit: wholeNumber(1024, 1_073_741_824)
      .default(33_554_432)
      .describe('Largest request with metrics in bytes, also after decompression; more is answered 413.'),
    metric_memory: wholeNumber(4_194_304, 68_719_476_736)
      .default(268_435_456)
      .describe(
        'Bytes of memory that requests with metrics may hold together; when there is no more, senders wait, then get 503.',
      ),
    metric_query_series: wholeNumber(1, 10_000_000)
      .default(50_000)
      .describe('Series that one selector of a query may read from the metrics kept here.'),
    metric_query_samples: wholeNumber(1, 1_000_000_000)
      .default(10_000_000)
      .describe('Samples that one query may read from the metrics kept here.'),
    clickhouse_url: httpUrl
      .optional()
      .describe(
        'ClickHouse 26.2 or newer that keeps the logs: `http://user:password@host:8123`. Default: the embedded engine in the data directory.',
      ),
    clickhouse_cluster: z
      .string()
      .regex(/^[\w.-]{1,128}$/, 'must be the name of a cluster')
      .optional()
      .describe(
        "Cluster of `clickhouse_url`, by its name in the servers' configuration: tables are then replicated and distributed over it.",
      ),
    roles: z
      .string()
      .regex(
        /^(all|(api|intake|evaluator|notifier)(,(api|intake|evaluator|notifier))*)$/,
        'must be all, or some of api, intake, evaluator, notifier with commas',
      )
      .default('all')
      .describe(
        'What this process does: `all`, or some of `api`, `intake`, `evaluator`, `notifier` with commas. Every process answers the API.',
      ),
    advertise_url: httpUrl
      .optional()
      .describe(
        'Address under which the other processes of an installation reach this one. Default: where it listens, by the name of its machine when that is every address.',
      ),
    recover_minutes: wholeNumber(1, 1440)
      .default(10)
      .describe('Minutes in a row that a rule must not be met before its alert resolves.'),
    missing_minutes: z
      .enum(['ignore', 'good'])
      .default('ignore')
      .describe(
        'What a minute without a sample is for an alert that fires: `ignore` keeps it firing until the whole window is empty, `good` lets it recover.',
      ),
    series_limit: wholeNumber(1, 100_000)
      .default(5_000)
      .describe(
        'Series of one rule that are evaluated; when there are more, those that fire stay and the rule says so.',
      ),
    engine_memory: wholeNumber(268_435_456, 1_099_511_627_776)
      .default(2_147_483_648)
      .describe('Bytes of memory for the embedded log engine.'),
    query_timeout: wholeNumber(1, 3600).default(30).describe('Seconds after which a log query is given up.'),
    pagerduty_url: httpUrl
      .default('https://events.pagerduty.com')
      .describe('Address of PagerDuty for its channels; `https://events.eu.pagerduty.com` in its European region.'),
    opsgenie_url: httpUrl
      .default('https://api.opsgenie.com')
      .describe('Address of Opsgenie for its channels; `https://api.eu.opsgenie.com` in its European region.'),
    stop_timeout: wholeNumber(0, 3600)
      .default(10)
      .describe('Seconds that requests under way get to finish when the service stops.'),
  })
  .refine((settings) => (settings.tls_cert === undefined) === (settings.tls_key === undefined), {
    path: ['tls_key'],
    message: 'tls_cert and tls_key go together',
  });

/** The settings with every default filled in. */
export type Settings = z.output<typeof settingsSchema>;
export type SettingName = keyof Settings;

export const SETTING_NAMES = Object.keys(settingsSchema.shape) as SettingName[];

/** Settings that a command line would show to every user of the machine. */
const NOT_A_FLAG: ReadonlySet<SettingName> = new Set(['secret_key']);

/** `--data-dir`; undefined when the setting has no flag. */
export function flagOf(name: SettingName): string | undefined {
  return NOT_A_FLAG.has(name) ? undefined : name.replaceAll('_', '-');
}

/** The variables that set it, strongest first. */
export function variablesOf(name: SettingName): readonly string[] {
  const own = `OBSIAC_${name.toUpperCase()}`;
  const common = { database_url: 'DATABASE_URL', clickhouse_url: 'CLICKHOUSE_URL' }[name as string];
  return common === undefined ? [own] : [own, common];
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
