/** Turns an OTLP log record into a row of the log store. */
import { toJson } from '@obsiac/model';
import type { RecordRow } from '../../log-store/index.ts';
import type { OtlpRecord } from '../otlp/record.ts';
import { type Attributes, addAttribute, pathPart } from './values.ts';

/** The dataset of everything that comes by OTLP. */
export const OTLP_DATASET = 'otlp';

const LARGEST = (1n << 63n) - 1n;
const SEVERITIES = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** @param receivedAt nanoseconds since the Unix epoch, the time of a record that has none of its own. */
export function otlpRow(record: OtlpRecord, receivedAt: string): RecordRow {
  const observed = timeOf(record.observedTimeUnixNano);
  const service = record.resource['service.name'];
  return {
    timestamp: timeOf(record.timeUnixNano) ?? observed ?? receivedAt,
    ...(observed === undefined ? {} : { observed_timestamp: observed }),
    severity_number: record.severityNumber >= 0 && record.severityNumber <= 24 ? record.severityNumber : 0,
    severity_text: record.severityText.toWellFormed() || severityName(record.severityNumber),
    service: typeof service === 'string' ? service.toWellFormed() : '',
    trace_id: record.traceId.toWellFormed(),
    span_id: record.spanId.toWellFormed(),
    body: (typeof record.body === 'string'
      ? record.body
      : record.body === null
        ? ''
        : toJson(record.body)
    ).toWellFormed(),
    attributes: attributesOf(record),
    raw: toJson(rawOf(record)).toWellFormed(),
  };
}

function timeOf(nanoseconds: bigint): string | undefined {
  return nanoseconds === 0n || nanoseconds > LARGEST ? undefined : String(nanoseconds);
}

/** OpenTelemetry's names: four grades of each of six levels, the first without its number. */
function severityName(number: number): string {
  if (number < 1 || number > 24) return '';
  const grade = ((number - 1) % 4) + 1;
  return `${SEVERITIES[Math.floor((number - 1) / 4)]}${grade === 1 ? '' : grade}`;
}

/** The record's own attributes come before the scope's and those before the resource's of the same name. */
function attributesOf(record: OtlpRecord): Attributes {
  const attributes: Attributes = {};
  const own = {
    'event.name': record.eventName,
    'otel.scope.name': record.scope.name,
    'otel.scope.version': record.scope.version,
  };
  for (const source of [record.resource, record.scope.attributes, own, record.attributes]) {
    for (const [name, value] of Object.entries(source)) addAttribute(attributes, pathPart(name), value);
  }
  return attributes;
}

/** The record as one JSON object, by OTLP's names: what is shown and exported as its line. */
function rawOf(record: OtlpRecord) {
  return {
    timeUnixNano: String(record.timeUnixNano),
    observedTimeUnixNano: String(record.observedTimeUnixNano),
    severityNumber: record.severityNumber,
    severityText: record.severityText,
    body: record.body,
    attributes: record.attributes,
    droppedAttributesCount: record.droppedAttributesCount,
    flags: record.flags,
    traceId: record.traceId,
    spanId: record.spanId,
    eventName: record.eventName,
    resource: record.resource,
    scope: record.scope,
  };
}
