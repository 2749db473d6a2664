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

/** In the file a setting is called by its key here, as a flag `--data-dir`, as a variable `OBSIAC_DATA_DIR`. */
export const settingsSchema = z.object({
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
    .describe('Address under which clients reach the service, written into `config.json`. Default: where it listens.'),
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
  stop_timeout: wholeNumber(0, 3600)
    .default(10)
    .describe('Seconds that requests under way get to finish when the service stops.'),
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
  return name === 'database_url' ? [own, 'DATABASE_URL'] : [own];
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
