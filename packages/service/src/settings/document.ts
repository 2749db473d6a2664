/** Writes the page about settings from their definition; a test holds `docs/service-settings.md` against it. */
import { flagOf, SETTING_NAMES, type SettingName, settingsSchema, variablesOf } from './definition.ts';

const HEAD = `# Settings of the service

Every setting can be given as a flag of \`obsiac-service\`, as a variable, or in \`service.yaml\`. A flag comes before a
variable, a variable before the file, the file before the default. An empty variable counts as not set. A wrong setting
stops the start, with its name and where it came from.

\`service.yaml\` is looked for in the data directory; \`--config FILE\` names another one. Its keys are the names below:

\`\`\`yaml
port: 7780
host: 0.0.0.0
public_url: https://obsiac.example.com
\`\`\`

| Name | Flag | Variable | Default | |
|---|---|---|---|---|
`;

const TAIL = `
## What stands in the data directory

| File | |
|---|---|
| \`config.json\` | For \`obsiac -c\`: three tokens, the address, the organisation. Written by the first start; later starts only refresh the address. Readable by its owner alone. |
| \`intake.json\` | For senders of logs: \`endpoint\`, \`username\`, \`password\`, the header \`authorization\`, and \`cloudflare_url\` for a Logpush job. Written by the first start; later starts only refresh the address. Readable by its owner alone. |
| \`logs/\` | The log engine's data (\`engine\`), accepted batches that it has not loaded yet (\`spool\`), batches that it refused for good (\`spool-refused\`), lines that were no records, with their reasons (\`rejects\`, at most 32 MiB), and backups. |
| \`metadata.sqlite\` | Everything the API holds, unless \`database_url\` names PostgreSQL. |
| \`secret.key\` | Seals channel destinations and data source credentials and signs access tokens, unless \`secret_key\` is set. Keep a copy: without it sealed values are lost. |
| \`service.lock\`, \`service.pid\` | One service to a data directory; the lock ends with its process. |
| \`service.yaml\` | Yours, if you like. |

## Limits

A request body over \`body_limit\` is answered 413. A token that makes more than \`rate_limit\` requests in a minute is
answered 429 with \`Retry-After\`; so is an address with more than \`exchange_rate_limit\` token exchanges. Both are counted
in each process by itself. The default lets one \`obsiac apply\` create some 10,000 rules without waiting.

## Taking logs in

\`POST /cloudflare\` takes Logpush batches and \`POST /v1/logs\` takes OTLP, on \`port\` or on \`intake_port\`. 200 means that the
batch is on disk. A batch that cannot be stored now is answered 503 with \`Retry-After\`: the spool is full
(\`spool_limit\`), the disk nearly is (\`disk_reserve\`), or too many batches are under way (\`intake_memory\`). The same
batch delivered again is stored once.

Cloudflare delivers only to an address with a publicly trusted certificate. Either give \`tls_cert\` and \`tls_key\`, which
are used for the port that logs are delivered to (with \`intake_port\`, the API beside it stays without), or put a proxy
with TLS in front and name its address in \`intake_public_url\`. Credentials are made by
\`obsiac-service intake create\`; any number may be in force.

Records older than \`log_retention\` are deleted by whole days. Changing it takes effect at the next start.

## Memory

Taking logs in holds these limits whatever senders offer; a test that offers ten times what can be stored holds them to it:

- The process of the service: 320 MiB and \`intake_memory\`.
- The process of the log engine: \`engine_memory\`, and a fifth more for moments. Some 250 MiB of it are the engine's program, which
  the system may drop and read again. A search gets a quarter of \`engine_memory\` at most.
- On disk: accepted batches that wait, \`spool_limit\`.

Senders that find no room get 503 with \`Retry-After\`, and come again. A batch that is larger than \`intake_memory\` when it is
compressed can never be taken.

## More than one process

Give every process the same \`database_url\` and the same \`secret_key\`, and a data directory of its own. The process that
comes first creates the organisation and gets \`config.json\`; make further tokens with \`obsiac-service token create\`.
`;

export function settingsPage(): string {
  return HEAD + SETTING_NAMES.map(row).join('') + TAIL;
}

function row(name: SettingName): string {
  const flag = flagOf(name);
  const cells = [
    `\`${name}\``,
    flag === undefined ? '' : `\`--${flag}\``,
    variablesOf(name)
      .map((variable) => `\`${variable}\``)
      .join(', '),
    defaultOf(name),
    settingsSchema.shape[name].description ?? '',
  ];
  return `| ${cells.join(' | ')} |\n`;
}

function defaultOf(name: SettingName): string {
  const { data } = settingsSchema.shape[name].safeParse(undefined);
  return data === undefined ? '' : `\`${data}\``;
}
