/** The datasets whose lines the engine turns into records by itself, and how it words their bodies. */
import { DATASETS } from '@obsiac/model';

/** The expression of a field's column, or undefined when the batch has no such field. */
export type FieldExpression = (field: string) => string | undefined;

export interface PlainDataset {
  /** Fields that a record's time is taken from; the first that has one. */
  readonly timestamps: readonly string[];
  /** The text that words are searched in. */
  readonly body: (field: FieldExpression) => string;
  /** OpenTelemetry's service.name. */
  readonly service: (field: FieldExpression) => string;
}

/** Texts with one space between, those that are empty left out. */
function sentence(...parts: (string | undefined)[]): string {
  const present = parts.filter((part) => part !== undefined);
  if (present.length === 0) return "''";
  const [first, ...rest] = present as [string, ...string[]];
  if (rest.length === 0) return first;
  return `trimLeft(concat(${first}, ${rest.map((part) => spaced(part)).join(', ')}))`;
}

function spaced(text: string): string {
  return `if(${text} = '', '', concat(' ', ${text}))`;
}

function text(number: string | undefined): string | undefined {
  return number === undefined ? undefined : `ifNull(toString(${number}), '')`;
}

/** Texts joined with nothing between. */
function joined(...parts: (string | undefined)[]): string | undefined {
  const present = parts.filter((part) => part !== undefined);
  if (present.length <= 1) return present[0];
  return `concat(${present.join(', ')})`;
}

function origin(field: FieldExpression): string | undefined {
  const scheme = field('ClientRequestScheme');
  const host = field('ClientRequestHost');
  if (scheme === undefined || host === undefined) return host;
  return `if(${scheme} = '' OR ${host} = '', ${host}, concat(${scheme}, '://', ${host}))`;
}

function firstFilled(...texts: (string | undefined)[]): string {
  const present = texts.filter((part) => part !== undefined);
  if (present.length === 0) return "''";
  return present
    .slice(0, -1)
    .reduceRight((rest, part) => `if(${part} != '', ${part}, ${rest})`, present.at(-1) as string);
}

const zoneOrHost = (field: FieldExpression) => firstFilled(field('ZoneName'), field('ClientRequestHost'));

function timestamps(name: string): readonly string[] {
  const dataset = DATASETS[name];
  if (dataset === undefined) throw new Error(`There is no dataset ${name}`);
  return [dataset.timestamp_field, ...(dataset.other_timestamp_fields ?? [])];
}

function target(field: FieldExpression): string | undefined {
  const [uri, path] = [field('ClientRequestURI'), field('ClientRequestPath')];
  return uri === undefined || path === undefined ? (uri ?? path) : `if(${uri} != '', ${uri}, ${path})`;
}

export const PLAIN_DATASETS: Readonly<Record<string, PlainDataset>> = {
  http_requests: {
    timestamps: timestamps('http_requests'),
    service: zoneOrHost,
    body: (field) =>
      sentence(
        field('ClientRequestMethod'),
        joined(origin(field), target(field)),
        text(field('EdgeResponseStatus')),
        field('ClientIP'),
        field('RayID'),
      ),
  },
  firewall_events: {
    timestamps: timestamps('firewall_events'),
    service: zoneOrHost,
    body: (field) =>
      sentence(
        field('Action'),
        field('Source'),
        field('ClientRequestMethod'),
        joined(origin(field), field('ClientRequestPath'), field('ClientRequestQuery')),
        text(field('EdgeResponseStatus')),
        field('ClientIP'),
        field('RayID'),
        field('Description'),
      ),
  },
  dns_logs: {
    timestamps: timestamps('dns_logs'),
    service: () => "''",
    body: (field) =>
      sentence(
        field('QueryName'),
        text(field('QueryType')),
        text(field('ResponseCode')),
        field('SourceIP'),
        field('ColoCode'),
      ),
  },
};
