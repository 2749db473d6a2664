/** `obsiac alerts`: what fires now. */
import type { AlertMonitor, AlertMonitorQuery, Client } from '@obsiac/api';
import { didYouMean } from '@obsiac/model';
import { compileRegex } from '@obsiac/promql';
import { type AlertRow, alertEvent, alertLine, alertRows, alertTable } from '../alerts/alert-rows.ts';
import { watchAlerts } from '../alerts/watch.ts';
import { COMMON_OPTIONS, CONFIG } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT } from '../exit-code.ts';
import { Failure, usageFailure } from '../failure.ts';
import { nanosecondsOf } from '../logs/search-options.ts';
import { loadServiceConfig } from '../project/project.ts';
import { withSession } from '../session.ts';
import { notice } from '../views/messages.ts';
import type { Command, Context } from './command.ts';

const STATES = { firing: 'firing', pending: 'pending', resolved: 'resolved', all: 'firing,pending,resolved' } as const;
type Wanted = keyof typeof STATES;

/** Seconds: the longest window that the service takes. */
const LONGEST_WINDOW = 3600;

export const alerts: Command = {
  name: 'alerts',
  summary: 'Show what fires now',
  usage: ['-c PATH alerts [--state STATE] [--entity REF] [--rule REGEX] [--label NAME=VALUE] [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Shows the alerts of the organization: those that fire, or with --state those that are pending (some minutes are bad, but too few to fire), or that have resolved lately. It uses the read token alone, and ends with 0 whatever fires.',
    'VALUE is the newest value, or the worst one where that is not known. BAD counts the bad minutes of the window of the rule. With --at it shows what fired at a moment of the past; what was pending then is not known.',
    'With --watch it shows the table once and then a line for each alert that changes, until Ctrl-C. With --json each alert is one event.',
  ],
  options: [
    CONFIG,
    {
      name: 'state',
      value: 'STATE',
      complete: Object.keys(STATES),
      summary: 'firing (default), pending, resolved, or all of them.',
    },
    { name: 'entity', value: 'REF', summary: 'Only of this alert manager: its external_ref or its name.' },
    { name: 'rule', value: 'REGEX', summary: 'Only of rules whose whole name matches this regular expression (RE2).' },
    {
      name: 'label',
      value: 'NAME=VALUE',
      repeatable: true,
      summary: 'Only alerts with this label. Repeatable: all of them must be there.',
    },
    {
      name: 'window',
      value: 'DURATION',
      kind: 'duration',
      summary: 'How long an alert that has ended is shown as resolved, up to 1h (default 15m).',
    },
    {
      name: 'at',
      value: 'TIME',
      summary: 'At this time: 90m or 7d for so long ago, 2026-11-21T07:30:00Z, or Unix seconds.',
    },
    { name: 'watch', summary: 'Go on, and show each change.' },
    ...COMMON_OPTIONS,
  ],
  positionals: [],
  examples: [
    { about: 'What fires now', command: 'obsiac -c config.json alerts' },
    {
      about: 'Everything of one alert manager',
      command: 'obsiac -c config.json alerts --state all --entity checkout-api',
    },
    {
      about: 'During an incident',
      command: "obsiac -c config.json alerts --watch --rule '.*errors.*' --label region=eu",
    },
    { about: 'What fired last night', command: 'obsiac -c config.json alerts --at 2026-11-21T03:00:00Z' },
  ],
  run: async (args, context) => {
    // Other words are refused with the option itself.
    const wanted = (args.text('state') ?? 'firing') as Wanted;
    const query = readQuery(args);
    if (args.has('watch') && query.timestamp !== undefined)
      throw usageFailure('--watch shows now, and --at another time');
    const config = await loadServiceConfig(args, context);
    await withSession(config, 2, async ({ client }) => {
      const entity = args.text('entity');
      const group = entity === undefined ? {} : { alert_group_id: await findEntity(client, entity, context) };
      // Who watches what fires wants to see it end.
      const state = args.has('watch') ? `${STATES[wanted]},resolved` : STATES[wanted];
      const read = () => client.alerts.monitor({ ...query, ...group, state }, { signal: context.cancelled });
      if (args.has('watch')) await watch(read, wanted, context);
      else sayAlerts(await read(), wanted, context);
    });
    return EXIT.ok;
  },
};

function readQuery(args: Arguments): AlertMonitorQuery {
  const window = args.number('window');
  if (window !== undefined && (window < 1000 || window > LONGEST_WINDOW * 1000)) {
    throw usageFailure('--window is from 1s to 1h');
  }
  const rule = args.text('rule');
  const regex = rule === undefined ? undefined : compileRegex(rule);
  if (regex && !regex.ok) throw usageFailure(`--rule is no regular expression: ${regex.message}`);
  const time = args.text('at');
  return {
    ...(window !== undefined && { window: Math.round(window / 1000) }),
    ...(rule !== undefined && { rule_name: rule }),
    ...(args.has('label') && { label_filters: args.texts('label').map(labelFilter).join(',') }),
    ...(time !== undefined && { timestamp: Number(nanosecondsOf(time, 'at', Date.now()) / 1_000_000n) / 1000 }),
  };
}

function labelFilter(text: string): string {
  if (/^[A-Za-z_][\w.:/-]*=/.test(text)) return text;
  throw usageFailure(`--label is NAME=VALUE; ${text} is not`);
}

/** The id of an alert manager by its `external_ref`, else by its name. */
async function findEntity(client: Client, wanted: string, { cancelled }: Context): Promise<string> {
  const { value: entities } = await client.listEntities({ signal: cancelled });
  const byRef = entities.find(({ external_ref }) => external_ref === wanted);
  const named = byRef ? [byRef] : entities.filter(({ name }) => name === wanted);
  const [only, other] = named;
  if (only && !other) return only.id;
  if (other) {
    const refs = named.map(({ external_ref }) => external_ref ?? '').join(', ');
    throw usageFailure(`Several alert managers are named ${wanted}`, `Name one by its external_ref: ${refs}.`);
  }
  const known = entities.flatMap(({ external_ref, name }) => [external_ref ?? '', name]);
  throw new Failure(EXIT.error, {
    code: 'entity_not_found',
    summary: `The service has no alert manager ${wanted}`,
    detail: `The organization has ${entities.length}.${didYouMean(wanted, known)}`,
  });
}

function sayAlerts(feed: AlertMonitor, wanted: Wanted, context: Context): void {
  const rows = alertRows(feed).filter(({ alert }) => STATES[wanted].split(',').includes(alert.state));
  const fit = context.terminal.live;
  context.view.say({
    stream: 'out',
    human: (style) => (rows.length === 0 ? '' : alertTable(rows, feed.timestamp, style, fit)),
    json: () => rows.map(alertEvent),
  });
  if (rows.length === 0) context.view.say(notice(NOTHING[wanted]));
  for (const { message } of feed.incomplete) context.view.say(notice(message, 'warn'));
}

const NOTHING: Readonly<Record<Wanted, string>> = {
  firing: 'Nothing fires.',
  pending: 'Nothing is pending.',
  resolved: 'Nothing has resolved in this window.',
  all: 'Nothing fires, is pending or has resolved in this window.',
};

async function watch(read: () => Promise<AlertMonitor>, wanted: Wanted, context: Context): Promise<void> {
  const { view, cancelled } = context;
  for await (const event of watchAlerts(read, cancelled)) {
    if (event.kind === 'all') sayAlerts(event.feed, wanted, context);
    else if (event.kind === 'changed') for (const row of event.rows) sayChange(row, event.at, context);
    else if (event.kind === 'back') view.say(notice('The service answers again.'));
    else view.say(notice(`${event.reason} Asking again.`, 'warn'));
  }
}

function sayChange(row: AlertRow, at: number, { view }: Context): void {
  view.say({ stream: 'out', human: (style) => alertLine(row, at, style), json: () => [alertEvent(row)] });
}
