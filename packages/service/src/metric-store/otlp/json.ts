/** Decodes ExportMetricsServiceRequest in JSON (OTLP specification: lowerCamelCase keys, 64-bit integers as text or number). */
import {
  asBigInt,
  asDouble,
  asList,
  asNumber,
  asObject,
  asText,
  type JsonObject,
  parseExact,
  readAttributes,
} from '../../intake/otlp/json.ts';
import {
  emptyMetric,
  emptyPoint,
  type Metric,
  type MetricKind,
  type Point,
  type ResourceMetrics,
  type ScopeMetrics,
} from './data.ts';

/** @throws OtlpDecodeError */
export function decodeMetricsRequestJson(text: string): ResourceMetrics[] {
  const request = asObject(parseExact(text), 'the request');
  return asList(request['resourceMetrics'], 'resourceMetrics').map((item, index) => {
    const place = `resourceMetrics[${index}]`;
    const object = asObject(item, place);
    const resource = asObject(object['resource'] ?? {}, `${place}.resource`);
    return {
      resource: readAttributes(resource['attributes'], `${place}.resource`),
      scopes: listOf(object, 'scopeMetrics', place, readScopeMetrics),
    };
  });
}

function listOf<T>(object: JsonObject, key: string, place: string, read: (item: JsonObject, place: string) => T): T[] {
  return asList(object[key], `${place}.${key}`).map((item, index) => {
    const own = `${place}.${key}[${index}]`;
    return read(asObject(item, own), own);
  });
}

function readScopeMetrics(object: JsonObject, place: string): ScopeMetrics {
  const scope = asObject(object['scope'] ?? {}, `${place}.scope`);
  return {
    scope: { name: asText(scope['name'], `${place}.scope`), version: asText(scope['version'], `${place}.scope`) },
    metrics: listOf(object, 'metrics', place, readMetric),
  };
}

const KINDS: Readonly<Record<string, MetricKind>> = {
  gauge: 'gauge',
  sum: 'sum',
  histogram: 'histogram',
  exponentialHistogram: 'exponential_histogram',
  summary: 'summary',
};

function readMetric(object: JsonObject, place: string): Metric {
  const metric = emptyMetric();
  metric.name = asText(object['name'], `${place}.name`);
  metric.description = asText(object['description'], `${place}.description`);
  metric.unit = asText(object['unit'], `${place}.unit`);
  for (const [key, kind] of Object.entries(KINDS)) {
    if (object[key] === undefined || object[key] === null) continue;
    const data = asObject(object[key], `${place}.${key}`);
    metric.kind = kind;
    metric.temporality = asNumber(data['aggregationTemporality'], `${place}.${key}.aggregationTemporality`);
    metric.monotonic = data['isMonotonic'] === true;
    metric.points = listOf(data, 'dataPoints', `${place}.${key}`, readPoint);
  }
  return metric;
}

function readPoint(object: JsonObject, place: string): Point {
  const doubles = (key: string) =>
    asList(object[key], `${place}.${key}`).map((item) => Number(asDouble(item, `${place}.${key}`)));
  const integer = (value: unknown, key: string) => Number(asBigInt(value, `${place}.${key}`));
  return {
    ...emptyPoint(),
    attributes: { ...readAttributes(object['attributes'], place) },
    time: asBigInt(object['timeUnixNano'], `${place}.timeUnixNano`),
    flags: asNumber(object['flags'], `${place}.flags`),
    value: pointValue(object, place),
    count: integer(object['count'], 'count'),
    sum:
      object['sum'] === undefined || object['sum'] === null
        ? undefined
        : Number(asDouble(object['sum'], `${place}.sum`)),
    bounds: doubles('explicitBounds'),
    bucketCounts: asList(object['bucketCounts'], `${place}.bucketCounts`).map((item) => integer(item, 'bucketCounts')),
    quantiles: listOf(object, 'quantileValues', place, (item, own) => ({
      quantile: Number(asDouble(item['quantile'] ?? 0, own)),
      value: Number(asDouble(item['value'] ?? 0, own)),
    })),
  };
}

function pointValue(object: JsonObject, place: string): number {
  if (object['asDouble'] !== undefined) return Number(asDouble(object['asDouble'], `${place}.asDouble`));
  const text = String(object['asInt'] ?? '0');
  // Signed, as text or number.
  return text.startsWith('-')
    ? -Number(asBigInt(text.slice(1), `${place}.asInt`))
    : Number(asBigInt(text, `${place}.asInt`));
}
