/** `obsiac logs query`: records that match, or a table of statistics. */
import { LOG_LIMITS, type LogQueryAnswer } from '@obsiac/api';
import { COMMON_OPTIONS, CONFIG } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT } from '../exit-code.ts';
import { cellText, recordsText, rowCellText, USUAL_COLUMNS } from '../logs/record-text.ts';
import { countOf, namesOf, QUERY, queryOf, RANGE_OPTIONS, rangeOf, withLogs } from '../logs/search-options.ts';
import { notice } from '../views/messages.ts';
import { counted } from '../views/plan/report.ts';
import { tableText } from '../views/table.ts';
import type { Message } from '../views/view.ts';
import type { Command, Context } from './command.ts';

type Records = Extract<LogQueryAnswer, { kind: 'records' }>;
type Rows = Extract<LogQueryAnswer, { kind: 'rows' }>;

function recordsShown({ records }: Records, args: Arguments, fit: boolean): Message {
  const columns = namesOf(args, 'columns') ?? USUAL_COLUMNS;
  return {
    stream: 'out',
    json: () => records.map((record) => ({ type: 'log_record', message: record.body.slice(0, 200), record })),
    human: (style) => (records.length === 0 ? '' : recordsText(records, columns, style, fit)),
  };
}

function rowsShown({ columns, rows }: Rows, fit: boolean): Message {
  const asObject = (row: readonly unknown[]) =>
    Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null]));
  return {
    stream: 'out',
    json: () => rows.map((row) => ({ type: 'log_row', message: row.map(cellText).join(' '), row: asObject(row) })),
    human: (style) =>
      rows.length === 0
        ? ''
        : tableText(
            columns,
            rows.map((row) => row.map(rowCellText)),
            style,
            { fit },
          ),
  };
}

function sayEnd(answer: LogQueryAnswer, limit: number, context: Context): void {
  const [count, noun] = answer.kind === 'records' ? [answer.records.length, 'record'] : [answer.rows.length, 'row'];
  if (count === 0) context.view.say(notice('Nothing matches in this time range.'));
  else if (count === limit)
    context.view.say(
      notice(`These are ${counted(count, noun)}, the limit; there may be more. See --limit and "obsiac logs export".`),
    );
}

export const logsQuery: Command = {
  name: 'logs query',
  summary: 'Find records, or make statistics of them',
  usage: ["-c PATH logs query 'QUERY' [--from TIME] [--to TIME] [options]"],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Shows the records that match, the newest first, or what the pipes of the query make of them. It uses the read token alone.',
    'The query language has words, "phrases", field:value, comparisons, ranges, wildcards, regular expressions, AND, OR, NOT, and pipes such as "| stats count() by (ClientRequestHost)"; docs/query-language.md explains it. Put "--" before a query that begins with a minus.',
    'With --json each record or row is one event.',
  ],
  options: [
    CONFIG,
    ...RANGE_OPTIONS,
    {
      name: 'limit',
      value: 'N',
      kind: 'integer',
      summary: `Records or rows at most, up to ${LOG_LIMITS.records} (default 100).`,
    },
    {
      name: 'order',
      value: 'ORDER',
      complete: ['desc', 'asc'],
      summary: 'By time: desc, the newest first (default), or asc.',
    },
    {
      name: 'columns',
      value: 'A,B',
      repeatable: true,
      summary: 'The columns of the table: fields (default timestamp,severity_text,dataset,body). Repeatable.',
    },
    ...COMMON_OPTIONS,
  ],
  positionals: [QUERY],
  examples: [
    { about: 'Server errors of the last hour', command: "obsiac -c config.json logs query 'EdgeResponseStatus:>=500'" },
    {
      about: 'Chosen columns of a quarter of an hour',
      command:
        "obsiac -c config.json logs query 'timeout -healthcheck' --from 15m --columns timestamp,ClientIP,ClientRequestPath",
    },
    {
      about: 'The slowest hosts today',
      command:
        "obsiac -c config.json logs query '* | stats p95(EdgeTimeToFirstByteMs) as p95, count() as n by (ClientRequestHost) | sort p95 desc | limit 10' --from 1d",
    },
  ],
  run: async (args, context) => {
    const { text } = queryOf(args, context);
    const limit = countOf(args, 'limit', 100, LOG_LIMITS.records);
    const order = args.text('order') === 'asc' ? 'asc' : 'desc';
    const request = { query: text, ...rangeOf(args), limit, order } as const;
    const answer = await withLogs(args, context, (logs) => logs.query(request, { signal: context.cancelled }));
    const fit = context.terminal.live && !args.has('columns');
    context.view.say(answer.kind === 'records' ? recordsShown(answer, args, fit) : rowsShown(answer, fit));
    sayEnd(answer, limit, context);
    return EXIT.ok;
  },
};
