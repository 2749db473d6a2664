/** `obsiac logs export`: everything that matches, streamed. */
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { LogExportRequest } from '@obsiac/api';
import { COMMON_OPTIONS, CONFIG } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT } from '../exit-code.ts';
import { Failure, usageFailure } from '../failure.ts';
import { countOf, namesOf, QUERY, queryOf, RANGE_OPTIONS, rangeOf, withLogs } from '../logs/search-options.ts';
import { reasonFor } from '../project/file-reason.ts';
import { notice } from '../views/messages.ts';
import type { Command, Context } from './command.ts';

const FORMATS = ['raw', 'ndjson', 'csv'] as const;
const MOST = 999_999_999;

function requestOf(args: Arguments, context: Context): LogExportRequest {
  const { text } = queryOf(args, context);
  const fields = namesOf(args, 'fields');
  const format = FORMATS.find((one) => one === args.text('format')) ?? 'raw';
  if (fields !== undefined && format !== 'csv')
    throw usageFailure('--fields goes with --format csv', 'The other formats have whole records.');
  return {
    query: text,
    ...rangeOf(args),
    format,
    ...(fields !== undefined && { fields }),
    ...(args.has('limit') && { limit: countOf(args, 'limit', MOST, MOST) }),
  };
}

type Sink = (chunk: Uint8Array) => Promise<boolean>;

/** Gives what is written the name of `file` when all of it is there, so that a file of that name is whole. */
async function intoFile(
  file: string,
  args: Arguments,
  context: Context,
  work: (sink: Sink) => Promise<number>,
): Promise<number> {
  const target = path.resolve(context.cwd, file);
  const refuse = (detail: string) =>
    new Failure(EXIT.error, {
      code: 'output_unwritable',
      summary: `The export cannot be written into ${file}`,
      detail,
    });
  if (!args.has('force') && (await stat(target).catch(() => null)) !== null) {
    throw refuse('The file exists already. Choose another name, or overwrite it with --force.');
  }
  const part = `${target}.part`;
  const failed = (error: NodeJS.ErrnoException) => refuse(reasonFor(error));
  const handle = await open(part, 'w').catch((error: NodeJS.ErrnoException) => {
    throw failed(error);
  });
  try {
    const bytes = await work(async (chunk) => {
      await handle.writeFile(chunk).catch((error: NodeJS.ErrnoException) => {
        throw failed(error);
      });
      return true;
    });
    await handle.close();
    await rename(part, target);
    return bytes;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  }
}

export const logsExport: Command = {
  name: 'logs export',
  summary: 'Write everything that matches',
  usage: ["-c PATH logs export 'QUERY' [-o FILE] [--format FORMAT] [options]"],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Writes all records that match, the oldest first, to the screen or into a file: raw is each line as it was delivered, byte for byte; ndjson is the record with its attributes; csv has a header line. A query with pipes gives its rows, as ndjson or csv.',
    'It is streamed, so it may be as large as it likes, and may take an hour. The file gets its name when it is whole; an export that breaks off ends with an error.',
  ],
  options: [
    CONFIG,
    ...RANGE_OPTIONS,
    { name: 'format', value: 'FORMAT', complete: FORMATS, summary: 'raw (default), ndjson or csv.' },
    { name: 'fields', value: 'A,B', repeatable: true, summary: 'The columns of csv. Repeatable.' },
    { name: 'limit', value: 'N', kind: 'integer', summary: 'Records at most (default: all).' },
    {
      name: 'output',
      aliases: ['o'],
      value: 'FILE',
      complete: 'file',
      summary: 'Write into FILE instead of the screen.',
    },
    { name: 'force', summary: 'Overwrite the file of -o.' },
    ...COMMON_OPTIONS,
  ],
  positionals: [QUERY],
  examples: [
    {
      about: 'A day as it was delivered',
      command: "obsiac -c config.json logs export 'dataset:http_requests' --from 1d | gzip > day.ndjson.gz",
    },
    {
      about: 'For a spreadsheet',
      command:
        "obsiac -c config.json logs export 'EdgeResponseStatus:>=500' --format csv --fields timestamp,ClientIP,ClientRequestPath -o errors.csv",
    },
  ],
  run: async (args, context) => {
    const request = requestOf(args, context);
    const file = args.text('output');
    const toScreen = file === undefined || file === '-';
    if (toScreen && args.has('json')) {
      throw usageFailure('--json goes with -o FILE', 'The export itself is written on standard output.');
    }
    const signal = context.cancelled;
    const bytes = await withLogs(args, context, (logs) => {
      const work = async (sink: Sink) => {
        let count = 0;
        for await (const chunk of logs.export(request, { signal })) {
          count += chunk.length;
          if (!(await sink(chunk))) break;
        }
        return count;
      };
      return toScreen ? work(context.terminal.pour) : intoFile(file, args, context, work);
    });
    const shown = `${bytes.toLocaleString('en-US')} bytes`;
    if (!toScreen) {
      context.view.say({
        stream: 'out',
        human: () => `Wrote ${shown} into ${file}.\n`,
        json: () => [{ type: 'log_export', message: `Wrote ${shown}`, file, bytes }],
      });
    } else if (bytes === 0) {
      context.view.say(notice('Nothing matches in this time range.'));
    }
    return EXIT.ok;
  },
};
