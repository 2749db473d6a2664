/** `obsiac promql eval EXPR`: evaluates an expression with the engine of the service, over a file or a server's samples. */
import {
  formatLabels,
  formatValue,
  type InstantResult,
  instantToApi,
  type ParsedQuery,
  QueryError,
  queryInstant,
  queryRange,
  type RangeResult,
  rangeToApi,
} from '@obsiac/promql';
import { COMMON_OPTIONS, COMPACT_WARNINGS, type Option } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT } from '../exit-code.ts';
import { Failure, usageFailure } from '../failure.ts';
import { plot } from '../promql/plot.ts';
import { METRICSQL, readExpression } from '../promql/query-text.ts';
import { readSampleFile, type Samples, serverStorage } from '../promql/samples.ts';
import { parseTime } from '../promql/time.ts';
import { result } from '../views/messages.ts';
import type { Style } from '../views/style.ts';
import type { Command, Context } from './command.ts';

const OPTIONS: readonly Option[] = [
  {
    name: 'data',
    value: 'FILE',
    complete: 'file',
    summary: 'Samples: series notation as in promtool tests, or an exposition; - for standard input.',
  },
  {
    name: 'format',
    value: 'FORMAT',
    complete: ['notation', 'exposition'],
    summary: 'What --data holds: notation or exposition (default: recognised).',
  },
  {
    name: 'interval',
    value: 'DURATION',
    kind: 'duration',
    summary: 'Time between the values of series notation (default 1m); the first is at 0.',
  },
  { name: 'url', value: 'ADDRESS', summary: 'A Prometheus-compatible server to read the samples from.' },
  { name: 'at', value: 'TIME', summary: 'Evaluate at one time (default: the last sample, or now for a server).' },
  {
    name: 'from',
    value: 'TIME',
    summary: 'First step of a range (default: the first sample, or an hour before --to).',
  },
  { name: 'to', value: 'TIME', summary: 'Last step of a range (default: the last sample, or now).' },
  { name: 'step', value: 'DURATION', kind: 'duration', summary: 'Time between the steps of a range (default 1m).' },
  { name: 'plot', summary: 'Draw a small plot of a range.' },
  { name: 'prometheus-2', summary: 'Windows include their left end, as before Prometheus 3.' },
];

const RANGE_OPTIONS = ['from', 'to', 'step', 'plot'];
const HOUR = 3_600_000;

function readSamples(args: Arguments, context: Context, now: number): Samples {
  const [file, url] = [args.text('data'), args.text('url')];
  if ((file === undefined) === (url === undefined)) {
    throw usageFailure('Samples are missing', 'Name either a file with --data or a server with --url.');
  }
  const format = args.text('format');
  if (format !== undefined && format !== 'notation' && format !== 'exposition') {
    throw usageFailure(`--format does not know ${format}`, 'It takes notation or exposition.');
  }
  if (file !== undefined) return readSampleFile(file, args, context, now);
  if (!URL.canParse(url as string))
    throw usageFailure(`--url is no address: ${url}`, 'Write it as http://localhost:9090.');
  return { storage: serverStorage(url as string), span: null };
}

/** A refusal of the engine, with the code that its documentation lists. */
function translated(error: unknown): never {
  if (!(error instanceof QueryError)) throw error;
  throw new Failure(
    EXIT.error,
    { code: `query_${error.code}`, summary: 'The expression cannot be evaluated', detail: error.message },
    { cause: error },
  );
}

async function evaluateRange(
  query: ParsedQuery,
  samples: Samples,
  args: Arguments,
  now: number,
  context: Context,
): Promise<RangeResult> {
  const origin = samples.span?.from ?? now;
  const time = (option: string) => {
    const text = args.text(option);
    return text === undefined ? undefined : parseTime(text, option, now, origin);
  };
  const end = time('to') ?? samples.span?.to ?? now;
  const start = time('from') ?? samples.span?.from ?? end - HOUR;
  const step = args.number('step') ?? 60_000;
  return queryRange(query.expr, {
    storage: samples.storage,
    start,
    end,
    step,
    signal: context.cancelled,
    ...compat(args),
  }).catch(translated);
}

async function evaluateInstant(
  query: ParsedQuery,
  samples: Samples,
  args: Arguments,
  now: number,
  context: Context,
): Promise<InstantResult> {
  const at = args.text('at');
  const time = at === undefined ? (samples.span?.to ?? now) : parseTime(at, 'at', now, samples.span?.from ?? now);
  return queryInstant(query.expr, { storage: samples.storage, time, signal: context.cancelled, ...compat(args) }).catch(
    translated,
  );
}

const compat = (args: Arguments) => (args.has('prometheus-2') ? { compat: 2 as const } : {});

const clock = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z');

function instantText({ data, time }: InstantResult): string {
  switch (data.type) {
    case 'scalar':
      return `${formatValue(data.value)}\n`;
    case 'string':
      return `${data.value}\n`;
    case 'vector':
      return data.samples.length === 0
        ? `No series at ${clock(time)}.\n`
        : `${columns(data.samples.map(({ labels, value }) => [formatLabels(labels), formatValue(value)])).join('\n')}\n`;
    case 'matrix':
      return seriesText(data.series);
  }
}

function seriesText(series: RangeResult['series']): string {
  if (series.length === 0) return 'No series.\n';
  const blocks = series.map(({ labels, times, values }) => {
    const rows = columns(Array.from(times, (time, index) => [clock(time), formatValue(values[index] as number)]));
    return [formatLabels(labels), ...rows.map((row) => `  ${row}`)].join('\n');
  });
  return `${blocks.join('\n')}\n`;
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first?.length ?? 0));
  return rows.map(([first = '', second = '']) => `${first.padEnd(width)}  ${second}`);
}

function plotText({ series }: RangeResult, style: Style): string {
  const lines = plot(series, Math.min(style.width, 100), 8);
  const times = series.flatMap(({ times: each }) => [...each]);
  if (lines.length === 0) return 'No series.\n';
  const legend = series
    .slice(0, 10)
    .map(({ labels, values }) => `  ${formatLabels(labels)}  last ${formatValue(values.at(-1) as number)}`);
  const more = series.length > legend.length ? [`  and ${series.length - legend.length} more series`] : [];
  const span = `${clock(Math.min(...times))} to ${clock(Math.max(...times))}`;
  return `${[...lines, span, ...legend, ...more].join('\n')}\n`;
}

export const promqlEval: Command = {
  name: 'promql eval',
  summary: 'Evaluate an expression over a file or a server',
  usage: ['promql eval EXPR --data FILE [options]', 'promql eval EXPR --url ADDRESS [options]'],
  exits: ['ok', 'error', 'invalid', 'cancelled'],
  about: [
    'Evaluates a PromQL expression with the engine that tests, previews and the embedded data source use. Without range options at one time; with --from, --to, --step or --plot over a range.',
    'Samples come from a file (--data) or from a Prometheus-compatible server (--url), whose raw samples are read and evaluated here. A server gives no staleness markers, so a series that ended seems to go on for the lookback of five minutes.',
    'Times are now, now-90m, RFC 3339, Unix seconds, or a duration since the start of the data. With --json the answer has the shape of the Prometheus HTTP API.',
  ],
  options: [...OPTIONS, METRICSQL, COMPACT_WARNINGS, ...COMMON_OPTIONS],
  positionals: [{ name: 'EXPR', required: true, summary: 'The expression; quote it for the shell' }],
  examples: [
    {
      about: 'Over series notation from a pipe',
      command: "echo 'errors_total 0+3x20' | obsiac promql eval 'rate(errors_total[5m])' --data -",
    },
    {
      about: 'What a target exposes',
      command: "curl -s localhost:9090/metrics | obsiac promql eval 'topk(3, go_gc_duration_seconds)' --data -",
    },
    {
      about: 'The last hour of a server, drawn',
      command: "obsiac promql eval 'sum(rate(prometheus_http_requests_total[5m]))' --url http://localhost:9090 --plot",
    },
  ],
  run: async (args, context) => {
    const query = readExpression(args, context);
    const ranged = RANGE_OPTIONS.some((option) => args.has(option));
    if (ranged && args.has('at'))
      throw usageFailure('--at asks for one time, the other options for a range', 'Leave out one or the other.');
    const now = Date.now();
    const samples = readSamples(args, context, now);
    if (ranged) {
      const range = await evaluateRange(query, samples, args, now, context);
      const text = (style: Style) => (args.has('plot') ? plotText(range, style) : seriesText(range.series));
      context.view.say(
        result({ type: 'promql_result', message: 'Result of a range query', data: rangeToApi(range) }, text),
      );
    } else {
      const instant = await evaluateInstant(query, samples, args, now, context);
      context.view.say(
        result({ type: 'promql_result', message: 'Result of an instant query', data: instantToApi(instant) }, () =>
          instantText(instant),
        ),
      );
    }
    return EXIT.ok;
  },
};
