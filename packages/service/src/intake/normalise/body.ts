/** What a record says in one line, whose it is and how bad: body, service and severity. The same as the store gives lines that it reads by itself. */
import type { Draft } from './draft.ts';
import { textOf } from './values.ts';

export interface Description {
  readonly body: string;
  readonly service: string;
  readonly severity_number: number;
  readonly severity_text: string;
}

/** @param line the record as delivered: the body of records that have no better one. */
export function describe(dataset: string, row: Draft, line: string): Description {
  const cell = (name: string): string => textOf(row[name]);
  return {
    body: bodyOf(dataset, cell) ?? line,
    service: serviceOf(dataset, cell),
    ...severityOf(row['EdgeResponseStatus']),
  };
}

type Cell = (name: string) => string;

function bodyOf(dataset: string, cell: Cell): string | undefined {
  switch (dataset) {
    case 'http_requests':
      return sentence(
        cell('ClientRequestMethod'),
        origin(cell) + (cell('ClientRequestURI') || cell('ClientRequestPath')),
        cell('EdgeResponseStatus'),
        cell('ClientIP'),
        cell('RayID'),
      );
    case 'firewall_events':
      return sentence(
        cell('Action'),
        cell('Source'),
        cell('ClientRequestMethod'),
        origin(cell) + cell('ClientRequestPath') + cell('ClientRequestQuery'),
        cell('EdgeResponseStatus'),
        cell('ClientIP'),
        cell('RayID'),
        cell('Description'),
      );
    case 'dns_logs':
      return sentence(cell('QueryName'), cell('QueryType'), cell('ResponseCode'), cell('SourceIP'), cell('ColoCode'));
    default:
      return undefined;
  }
}

function serviceOf(dataset: string, cell: Cell): string {
  if (dataset === 'dns_logs') return '';
  return cell('ZoneName') || cell('ClientRequestHost') || cell('ScriptName');
}

/** Texts with one space between; those that are empty are left out. */
export function sentence(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

function origin(cell: Cell): string {
  const [scheme, host] = [cell('ClientRequestScheme'), cell('ClientRequestHost')];
  return scheme === '' || host === '' ? host : `${scheme}://${host}`;
}

export type Severity = Pick<Description, 'severity_number' | 'severity_text'>;

export const INFO: Severity = { severity_number: 9, severity_text: 'INFO' };
export const WARN: Severity = { severity_number: 13, severity_text: 'WARN' };
export const ERROR: Severity = { severity_number: 17, severity_text: 'ERROR' };

/** OpenTelemetry severity from an HTTP status: 5xx ERROR, 4xx WARN, the rest INFO. */
export function severityOf(status: unknown): Severity {
  const code = Number(status ?? 0);
  return code >= 500 ? ERROR : code >= 400 ? WARN : INFO;
}
