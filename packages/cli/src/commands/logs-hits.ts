/** `obsiac logs hits`: how many records match over time. */
import type { LogHitsAnswer } from '@obsiac/api';
import { COMMON_OPTIONS, CONFIG } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { usageFailure } from '../failure.ts';
import { bar } from '../logs/record-text.ts';
import { isoTime, QUERY, queryOf, RANGE_OPTIONS, rangeOf, withLogs } from '../logs/search-options.ts';
import { result } from '../views/messages.ts';
import { counted } from '../views/plan/report.ts';
import type { Style } from '../views/style.ts';
import { tableText } from '../views/table.ts';
import type { Command } from './command.ts';

const BAR_WIDTH = 40;

function hitsText(answer: LogHitsAnswer, by: string | undefined, style: Style): string {
  const clock = (index: number) => isoTime(answer.timestamps[index] ?? '0').replace('.000Z', 'Z');
  const [first] = answer.series;
  const total = `${counted(answer.total, 'record')} in buckets of ${answer.step} s\n`;
  if (by === undefined && first !== undefined) {
    const most = Math.max(...first.counts);
    const rows = first.counts.map((count, index) => [clock(index), String(count), bar(count, most, BAR_WIDTH)]);
    return tableText(['TIME', 'RECORDS', ''], rows, style) + total;
  }
  const rows = answer.timestamps.map((_, index) => [
    clock(index),
    ...answer.series.map(({ counts }) => String(counts[index] ?? 0)),
  ]);
  const headings = answer.series.map(({ value }) => (value === null ? '(others)' : value === '' ? '(none)' : value));
  const totals = ['total', ...answer.series.map((series) => String(series.total))];
  return tableText(['TIME', ...headings], [...rows, totals], style) + total;
}

export const logsHits: Command = {
  name: 'logs hits',
  summary: 'Count records over time',
  usage: ["-c PATH logs hits 'QUERY' [--from TIME] [--to TIME] [options]"],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Counts the records that match, in buckets of time that are aligned to the clock. With --by there is a column for each of the most frequent values of a field, and one for the others.',
  ],
  options: [
    CONFIG,
    ...RANGE_OPTIONS,
    {
      name: 'step',
      value: 'DURATION',
      kind: 'duration',
      summary: 'Length of a bucket (default: so that there are about 30).',
    },
    { name: 'by', value: 'FIELD', summary: 'Count for each of the most frequent values of a field.' },
    ...COMMON_OPTIONS,
  ],
  positionals: [QUERY],
  examples: [
    {
      about: 'Server errors minute by minute',
      command: "obsiac -c config.json logs hits 'EdgeResponseStatus:>=500' --step 1m",
    },
    { about: 'By status', command: 'obsiac -c config.json logs hits --by EdgeResponseStatus --from 6h' },
  ],
  run: async (args, context) => {
    const { text, query } = queryOf(args, context);
    if (query.pipes.length > 0)
      throw usageFailure('hits counts records and takes no pipes', 'Leave out what follows the first "|".');
    const [step, by] = [args.number('step'), args.text('by')];
    if (step === 0) throw usageFailure('--step is longer than 0');
    const request = {
      query: text,
      ...rangeOf(args),
      ...(step === undefined ? { buckets: 30 } : { step: step / 1000 }),
      ...(by !== undefined && { by }),
    };
    const answer = await withLogs(args, context, (logs) => logs.hits(request, { signal: context.cancelled }));
    context.view.say(
      result({ type: 'log_hits', message: counted(answer.total, 'record'), ...answer }, (style) =>
        hitsText(answer, by, style),
      ),
    );
    return EXIT.ok;
  },
};
