/** `obsiac logs tail`: records as they arrive, until it is interrupted. */
import { COMMON_OPTIONS, CONFIG } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { usageFailure } from '../failure.ts';
import { follow } from '../logs/follow.ts';
import { recordLine, USUAL_COLUMNS } from '../logs/record-text.ts';
import { namesOf, nanosecondsOf, QUERY, queryOf, withLogs } from '../logs/search-options.ts';
import { notice } from '../views/messages.ts';
import { counted } from '../views/plan/report.ts';
import type { Command } from './command.ts';

export const logsTail: Command = {
  name: 'logs tail',
  summary: 'Show records as they arrive',
  usage: ["-c PATH logs tail 'QUERY' [options]"],
  exits: ['ok', 'error', 'invalid', 'refused'],
  about: [
    'Shows matching records as the service receives them, until Ctrl-C. When the connection breaks it connects again and goes on after the last record; records that came faster than they can be sent are counted and left out.',
  ],
  options: [
    CONFIG,
    { name: 'from', value: 'TIME', summary: 'Begin with records received since this time (default now).' },
    {
      name: 'columns',
      value: 'A,B',
      repeatable: true,
      summary: 'What to show of a record: fields (default timestamp,severity_text,dataset,body). Repeatable.',
    },
    ...COMMON_OPTIONS,
  ],
  positionals: [QUERY],
  examples: [
    { about: 'Server errors as they happen', command: "obsiac -c config.json logs tail 'EdgeResponseStatus:>=500'" },
    {
      about: 'The last five minutes, and on',
      command: "obsiac -c config.json logs tail 'severity_number:>=17' --from 5m",
    },
  ],
  run: async (args, context) => {
    const { text, query } = queryOf(args, context);
    if (query.pipes.length > 0)
      throw usageFailure('tail shows records and takes no pipes', 'Leave out what follows the first "|".');
    const columns = namesOf(args, 'columns') ?? USUAL_COLUMNS;
    const fit = context.terminal.live && !args.has('columns');
    const from = nanosecondsOf(args.text('from') ?? 'now', 'from', Date.now());
    const { view, cancelled } = context;
    await withLogs(args, context, async (logs) => {
      for await (const event of follow((request, ask) => logs.tail(request, ask), {
        query: text,
        from,
        signal: cancelled,
      })) {
        if (event.kind === 'record') {
          const { record } = event;
          view.say({
            stream: 'out',
            human: (style) => recordLine(record, columns, style, fit),
            json: () => [{ type: 'log_record', message: record.body.slice(0, 200), record }],
          });
        } else if (event.kind === 'dropped') {
          view.say(
            notice(
              `${counted(event.count, 'record')} came too fast and ${event.count === 1 ? 'is' : 'are'} left out.`,
              'warn',
            ),
          );
        } else {
          view.say(notice(`The connection broke: ${event.reason} Connecting again.`, 'warn'));
        }
      }
    });
    return EXIT.ok;
  },
};
