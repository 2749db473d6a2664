/** Rows of a worker's run (dataset workers_trace_events): the run itself, then each console line and each exception as a record of its own. */
import type { RecordRow } from '../../log-store/index.ts';
import { ERROR, INFO, type Severity, sentence, severityOf, WARN } from './body.ts';
import type { Draft } from './draft.ts';
import { isObject, type JsonObject } from './exact-json.ts';
import { toNanoseconds } from './time.ts';
import { type Attributes, textOf } from './values.ts';

/** Console levels, with OpenTelemetry's severities. */
const LEVELS: Readonly<Record<string, Severity>> = {
  trace: { severity_number: 1, severity_text: 'TRACE' },
  debug: { severity_number: 5, severity_text: 'DEBUG' },
  log: INFO,
  info: INFO,
  warn: WARN,
  warning: WARN,
  error: ERROR,
  fatal: { severity_number: 21, severity_text: 'FATAL' },
};

/** Outcomes of a run that did what it should, or that nobody waited for. */
const HARMLESS = new Set(['', 'ok', 'canceled', 'unknown', 'responsestreamdisconnected']);

/** Columns that tell which run a console line belongs to. */
const SHARED = ['ScriptName', 'Outcome', 'EventType', 'DispatchNamespace', 'Entrypoint', 'RayID'];

/** A part's number is a 16-bit integer; Cloudflare cuts a run's messages at 16,384 characters. */
const MAX_PARTS = 65_535;

/** @param run the row of the line, its columns and attributes filled. */
export function workerRows(run: Draft, record: JsonObject): RecordRow[] {
  const event = objectIn(record, 'event');
  const request = objectIn(event, 'request');
  const status = memberOf(objectIn(event, 'response'), 'status');
  fillFromEvent(run, event, request, status);
  const logs = listIn(record, 'logs');
  const exceptions = listIn(record, 'exceptions');
  const script = textOf(run['ScriptName']);
  const outcome = textOf(run['Outcome']);
  const failed = exceptions.length > 0 || !HARMLESS.has(outcome.toLowerCase());
  run.service = script;
  run.body = sentence(
    textOf(run['EventType']),
    textOf(memberOf(request, 'method')),
    textOf(memberOf(request, 'url')) || textOf(memberOf(event, 'cron')) || textOf(memberOf(event, 'queue')),
    textOf(status),
    outcome,
    script,
    textOf(run['RayID']),
  );
  Object.assign(run, failed ? ERROR : severityOf(status));
  const parts = [...logs.map((log) => consoleLine(run, log)), ...exceptions.map((thrown) => exception(run, thrown))];
  return [run, ...parts.slice(0, MAX_PARTS).map((part, index) => ({ ...part, part: index + 1 }))];
}

function fillFromEvent(run: Draft, event: JsonObject, request: JsonObject, status: unknown): void {
  const rayId = textOf(memberOf(event, 'rayid'));
  if (rayId !== '') run['RayID'] = rayId;
  const method = textOf(memberOf(request, 'method'));
  if (method !== '') run['ClientRequestMethod'] = method;
  if (typeof status === 'number' && Number.isInteger(status)) run['EdgeResponseStatus'] = String(status);
  const url = textOf(memberOf(request, 'url'));
  if (!URL.canParse(url)) return;
  const { protocol, host, pathname, search } = new URL(url);
  run['ClientRequestScheme'] = protocol.slice(0, -1);
  run['ClientRequestHost'] = host;
  run['ClientRequestPath'] = pathname;
  run['ClientRequestURI'] = pathname + search;
}

/** `{Level, Message, TimestampMs}`; Message is a list of the console call's arguments, or one text. */
function consoleLine(run: Draft, log: JsonObject): Draft {
  const message = memberOf(log, 'message');
  const body = Array.isArray(message) ? message.map(textOf).join(' ') : textOf(message);
  const level = textOf(memberOf(log, 'level')).toLowerCase();
  const attributes: Attributes = level === '' ? {} : { 'log.level': level };
  return partOf(run, log, { body, attributes, ...(LEVELS[level] ?? INFO) });
}

/** `{Name, Message, TimestampMs, Stack?}` */
function exception(run: Draft, thrown: JsonObject): Draft {
  const [name, message, stack] = ['name', 'message', 'stack'].map((member) => textOf(memberOf(thrown, member)));
  const attributes: Attributes = {};
  if (name) attributes['exception.type'] = name;
  if (message) attributes['exception.message'] = message;
  if (stack) attributes['exception.stacktrace'] = stack;
  return partOf(run, thrown, { body: [name, message].filter(Boolean).join(': '), attributes, ...ERROR });
}

function partOf(run: Draft, item: JsonObject, rest: Pick<Draft, 'body' | 'attributes'> & Severity): Draft {
  const shared = Object.fromEntries(SHARED.filter((name) => name in run).map((name) => [name, run[name]]));
  const line = run.raw_base64 === undefined ? { raw: run.raw } : { raw_base64: run.raw_base64 };
  const timestamp = toNanoseconds(memberOf(item, 'timestampms')) ?? run.timestamp;
  return { ...shared, ...line, service: run.service, timestamp, ...rest } as Draft;
}

/** A member by its name in lower case: their case has changed over the years, and is another one after truncation. */
function memberOf(object: JsonObject, lowerName: string): unknown {
  for (const [name, value] of Object.entries(object)) if (name.toLowerCase() === lowerName) return value;
  return undefined;
}

function objectIn(object: JsonObject, lowerName: string): JsonObject {
  const value = memberOf(object, lowerName);
  return isObject(value) ? value : {};
}

function listIn(object: JsonObject, lowerName: string): JsonObject[] {
  const value = memberOf(object, lowerName);
  return Array.isArray(value) ? value.filter(isObject) : [];
}
