/** What `--help` says. */
import { flagOf, SETTING_NAMES, type SettingName, settingsSchema, variablesOf } from './settings/definition.ts';

const WIDTH = 26;

export const HELP = `obsiac-service: alert managers, alert rules and edge logs behind one API

Usage
  obsiac-service serve [--data-dir DIR] [--port N] [--host H] [--org SLUG]
  obsiac-service token create --scope read|write|delete --name NAME
  obsiac-service token list
  obsiac-service token revoke NAME|ID
  obsiac-service intake create [--username NAME]
  obsiac-service intake list
  obsiac-service intake revoke NAME|ID
  obsiac-service version

Examples
  # Start on this machine. The first start writes DIR/config.json for the obsiac command.
  obsiac-service serve --data-dir ./data --port 7780
  obsiac -mf model.yaml -c ./data/config.json plan

  # A token for a CI job that only plans
  obsiac-service token create --data-dir ./data --scope read --name ci-plan

  # PostgreSQL instead of the embedded store
  DATABASE_URL=postgres://obsiac@db/obsiac obsiac-service serve --host 0.0.0.0

Each command has its own help: obsiac-service serve --help, token --help, intake --help
`;

export const SERVE_HELP = `Usage: obsiac-service serve [flags]

Starts the service and keeps it running until Ctrl-C or SIGTERM. One service to a data directory.
The first start creates the organisation, three tokens and DIR/config.json, which works as it is with obsiac -c,
and a user name and password for senders of logs in DIR/intake.json.

Flags, each also a variable and a key of service.yaml; a flag comes before a variable before the file:
${settingLines()}
${column('--no-logs')}The same as --logs false.
${column('--config FILE')}Settings file. Default: service.yaml in the data directory, when there is one.

Exit codes: 0 stopped as asked, 1 could not start or stop, 3 a flag or setting is wrong
`;

export const TOKEN_HELP = `Usage: obsiac-service token create --scope read|write|delete --name NAME
       obsiac-service token list
       obsiac-service token revoke NAME|ID

Makes, lists and revokes the refresh tokens of the organisation --org. A running service notices at once.
create prints the token, this once: only a hash of it is kept. Each token has one scope:
  read     GET
  write    GET, POST, PUT, and detaching a channel
  delete   DELETE

--data-dir, --org, --database-url and --config name the service, as for serve.

Examples
  obsiac-service token create --data-dir ./data --scope read --name ci-plan
  obsiac-service token revoke --data-dir ./data ci-plan
`;

export const INTAKE_HELP = `Usage: obsiac-service intake create [--username NAME]
       obsiac-service intake list
       obsiac-service intake revoke NAME|ID

Makes, lists and revokes the credentials by which senders deliver logs to the organisation --org. Any number may be
in force, so that one can follow another without a gap. A running service notices at once.
create prints what intake.json of the first start has, this once: only a hash of the password is kept.

--data-dir, --org, --database-url and --config name the service, as for serve.

Examples
  obsiac-service intake create --data-dir ./data --username cloudflare-2027
  obsiac-service intake revoke --data-dir ./data default-logs
`;

function settingLines(): string {
  return SETTING_NAMES.map((name) => {
    const flag = flagOf(name);
    const lead = flag === undefined ? `(${variablesOf(name)[0]})` : `--${flag}`;
    return `${column(lead)}${settingsSchema.shape[name].description?.replaceAll('`', '')}${defaultOf(name)}`;
  }).join('\n');
}

function defaultOf(name: SettingName): string {
  const result = settingsSchema.shape[name].safeParse(undefined);
  return result.data === undefined ? '' : ` Default: ${result.data}.`;
}

function column(text: string): string {
  return `  ${text.padEnd(WIDTH)} `;
}
