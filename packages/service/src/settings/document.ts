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
| \`metadata.sqlite\` | Everything the API holds, unless \`database_url\` names PostgreSQL. |
| \`secret.key\` | Seals channel destinations and data source credentials and signs access tokens, unless \`secret_key\` is set. Keep a copy: without it sealed values are lost. |
| \`service.lock\`, \`service.pid\` | One service to a data directory; the lock ends with its process. |
| \`service.yaml\` | Yours, if you like. |

## Limits

A request body over \`body_limit\` is answered 413. A token that makes more than \`rate_limit\` requests in a minute is
answered 429 with \`Retry-After\`; so is an address with more than \`exchange_rate_limit\` token exchanges. Both are counted
in each process by itself. The default lets one \`obsiac apply\` create some 10,000 rules without waiting.

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
