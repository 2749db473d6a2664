/** Description, runbook and annotations of a rule, as they read for one alert. */
import { renderTemplate } from '@obsiac/model';
import type { AlertRuleRow } from '../metadata/tables.ts';
import type { RuleAlert } from './rule-alerts.ts';

interface Properties {
  readonly description?: string;
  readonly runbook?: { readonly link?: string } | null;
  readonly annotations?: Readonly<Record<string, string>> | null;
}

/** What the texts of a rule are called as annotations. An annotation of the same name, written by the user, counts. */
export interface TextNames {
  readonly description: string;
  readonly runbook: string;
}

/** The texts that a rule has, with their templates as written. */
export function textsOf(row: Pick<AlertRuleRow, 'properties'>, names: TextNames): Record<string, string> {
  const { description = '', runbook, annotations } = JSON.parse(row.properties) as Properties;
  return {
    ...(description === '' ? {} : { [names.description]: description }),
    ...(runbook?.link ? { [names.runbook]: runbook.link } : {}),
    ...annotations,
  };
}

/** A template that fails stays as it is written. */
export function renderTexts(
  texts: Readonly<Record<string, string>>,
  { labels, value, worst }: Pick<RuleAlert, 'labels' | 'value' | 'worst'>,
): Record<string, string> {
  const input = { labels, value: value ?? worst ?? Number.NaN };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, renderTemplate(text, input).text]));
}
