/** `obsiac logs facets`: the most frequent values of fields. */
import { LOG_LIMITS, type LogFacetsAnswer } from '@obsiac/api';
import { COMMON_OPTIONS, CONFIG } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { usageFailure } from '../failure.ts';
import { bar } from '../logs/record-text.ts';
import { countOf, namesOf, QUERY, queryOf, RANGE_OPTIONS, rangeOf, withLogs } from '../logs/search-options.ts';
import { result } from '../views/messages.ts';
import { counted } from '../views/plan/report.ts';
import { oneLine, type Style } from '../views/style.ts';
import { cut } from '../views/table.ts';
import type { Command } from './command.ts';

const BAR_WIDTH = 20;

function facetsText({ facets, total }: LogFacetsAnswer, style: Style): string {
  const digits = total.toLocaleString('en-US').length;
  const share = (count: number) => `${((100 * count) / Math.max(1, total)).toFixed(1)}%`.padStart(6);
  const blocks = facets.map(({ field, values }) => {
    const most = Math.max(0, ...values.map(({ count }) => count));
    const lines = values.map(({ value, count }) => {
      const figures = `${count.toLocaleString('en-US').padStart(digits)} ${share(count)} ${bar(count, most, BAR_WIDTH).padEnd(BAR_WIDTH)}`;
      return cut(`  ${figures} ${value === '' ? '(empty)' : oneLine(value)}`, style.width);
    });
    return [style.strong(oneLine(field)), ...lines].join('\n');
  });
  return `${[...blocks, counted(total, 'record')].join('\n\n')}\n`;
}

export const logsFacets: Command = {
  name: 'logs facets',
  summary: 'Show the most frequent values of fields',
  usage: ["-c PATH logs facets 'QUERY' [--fields A,B] [options]"],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Shows, for each field, the values that most of the matching records have, with their number and share. Without --fields it takes the fields that tell most about the records that are there.',
  ],
  options: [
    CONFIG,
    ...RANGE_OPTIONS,
    { name: 'fields', value: 'A,B', repeatable: true, summary: 'The fields. Repeatable.' },
    {
      name: 'limit',
      value: 'N',
      kind: 'integer',
      summary: `Values of a field at most, up to ${LOG_LIMITS.facetValues} (default 10).`,
    },
    ...COMMON_OPTIONS,
  ],
  positionals: [QUERY],
  examples: [
    {
      about: 'What server errors have in common',
      command:
        "obsiac -c config.json logs facets 'EdgeResponseStatus:>=500' --fields ClientRequestHost,ClientRequestPath,EdgeColoCode",
    },
  ],
  run: async (args, context) => {
    const { text, query } = queryOf(args, context);
    if (query.pipes.length > 0)
      throw usageFailure('facets counts records and takes no pipes', 'Leave out what follows the first "|".');
    const fields = namesOf(args, 'fields');
    const request = {
      query: text,
      ...rangeOf(args),
      limit: countOf(args, 'limit', 10, LOG_LIMITS.facetValues),
      ...(fields !== undefined && { fields }),
    };
    const answer = await withLogs(args, context, (logs) => logs.facets(request, { signal: context.cancelled }));
    context.view.say(
      result({ type: 'log_facets', message: counted(answer.total, 'record'), ...answer }, (style) =>
        facetsText(answer, style),
      ),
    );
    return EXIT.ok;
  },
};
