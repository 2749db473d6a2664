/** What `explain` says, as text and as an event. */
import { ago, isoSeconds, labelsText, numberText } from '../alerts/texts.ts';
import { counted } from '../views/plan/report.ts';
import { harmless, oneLine, type Style, wrap } from '../views/style.ts';
import type { JsonEvent, Message } from '../views/view.ts';
import { type ExplainedChannel, type ExplainReport, type RuleRecord, STANDINGS } from './report.ts';

const LABEL_WIDTH = 14;

/** Series named one by one; the rest is counted. */
const MOST_SERIES = 5;

export function explained(report: ExplainReport): Message {
  return { stream: 'out', human: (style) => explainText(report, style), json: () => [explainEvent(report)] };
}

function explainText(report: ExplainReport, style: Style): string {
  const { found, record } = report;
  const { entity, rule } = found;
  const title = `${style.strong(oneLine(rule.name))}  ${rule.severity}, ${oneLine(entity.name)} (${oneLine(entity.external_ref)})`;
  const meaning = report.sentences.map((sentence) => wrap(harmless(sentence), style.width, '  '));
  const facts: (readonly [string, string])[] = [...definitionFacts(report), ...(record ? recordFacts(record) : [])];
  const errors = record ? errorLines(record, style) : [];
  return `${[title, '', ...meaning, '', ...facts.map(([label, text]) => factLine(label, text, style)), ...errors].join('\n')}\n`;
}

/** Continued lines stand under the first. Queries are not broken, so that they can be copied. */
function factLine(label: string, text: string, style: Style): string {
  const indent = ' '.repeat(LABEL_WIDTH + 2);
  const [first = '', ...rest] = text.split('\n');
  return [
    `  ${style.faint(label.padEnd(LABEL_WIDTH))}${harmless(first)}`,
    ...rest.map((line) => indent + harmless(line)),
  ].join('\n');
}

function definitionFacts({
  found,
  query,
  queryProblem,
  dataSource,
  channels,
}: ExplainReport): (readonly [string, string])[] {
  const { rule, standing } = found;
  const { source } = rule;
  return [
    ['Standing', STANDINGS[standing]],
    ...(source ? [['Written in', `${source.file}:${source.line}:${source.column}`] as const] : []),
    ['Query', query === '' ? queryProblem : query.trim()],
    ...(query !== '' && queryProblem !== '' ? [['', queryProblem] as const] : []),
    ['Data source', dataSource === '' ? 'the default of the organization' : dataSource],
    ['Tells', channelsText(channels, rule.severity)],
    ...(rule.runbook === '' ? [] : [['Runbook', rule.runbook] as const]),
  ];
}

function channelsText(channels: readonly ExplainedChannel[], severity: string): string {
  if (channels.length === 0) return `nobody: no channel is attached for the severity ${severity}`;
  return channels
    .map(({ name, type, mention }) => {
      const kind = type === '' ? '' : ` (${type})`;
      return `${name}${kind}${mention.length === 0 ? '' : ` mentioning ${mention.join(', ')}`}`;
    })
    .join(', ');
}

function recordFacts(record: RuleRecord): (readonly [string, string])[] {
  const { now, week, month, last, cost } = record;
  return [
    ['State', stateText(record)],
    ['Last fired', last === null ? 'never' : lastText(last, now)],
    ...(last && typeof last.explanation === 'string' && last.explanation !== ''
      ? [['', last.explanation] as const]
      : []),
    ['How often', `${oftenText(week)} in 7 days, ${oftenText(month)} in 30 days`],
    ['Costs', cost === null ? 'not known: no evaluation went well yet' : costText(cost)],
  ];
}

function stateText({ now, state, missing }: RuleRecord): string {
  const { counts, series, health } = state;
  const parts = [`${state.state}: ${counts.firing} series firing, ${counts.pending} pending, ${counts.normal} normal`];
  if (state.empty_since !== null) parts.push(`its query has no series since ${isoSeconds(state.empty_since)}`);
  if (health === 'err') parts.push('it cannot be evaluated');
  if (health === 'unknown' && missing.length === 0) parts.push('not evaluated yet');
  const named = series.filter((each) => each.state !== 'normal').slice(0, MOST_SERIES);
  const lines = named.map((each) => {
    const since = each.since === null ? '' : ` for ${ago(now - each.since)}`;
    const bad = each.bad_minutes === null ? '' : `, ${each.bad_minutes} of ${state.total_minutes} minutes bad`;
    const value = each.value === null ? '' : `, now ${numberText(each.value)}`;
    return `${each.state}${since}${bad}${value}  ${labelsText(each.labels)}`.trimEnd();
  });
  const more = counts.firing + counts.pending - named.length;
  return [parts.join('; '), ...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

function lastText(last: NonNullable<RuleRecord['last']>, now: number): string {
  const labels = labelsText(last.labels);
  const how = last.state === 'firing' ? `and fires for ${ago(now - last.fired_at)}` : `for ${ago(last.duration)}`;
  const why = last.reason === null || last.reason === 'recovered' ? '' : ` (${last.reason.replaceAll('_', ' ')})`;
  const late = last.late ? ', found late' : '';
  const value = last.value === null ? '' : `, worst value ${numberText(last.value)}`;
  return `${isoSeconds(last.fired_at)} ${how}${why}${late}${value}${labels === '' ? '' : `  ${labels}`}`;
}

function oftenText({ total, firing_seconds: seconds }: RuleRecord['week']): string {
  return total === 0 ? 'never' : `${counted(total, 'time')} (${ago(seconds)})`;
}

function costText(cost: NonNullable<RuleRecord['cost']>): string {
  const rounded = (value: number) => numberText(Number(value.toPrecision(3)));
  const shared = cost.shared_by > 1 ? `; ${cost.shared_by} rules share each answer` : '';
  const share = cost.share === null ? '' : `; ${rounded(100 * cost.share)} % of the time of its data source`;
  return `${rounded(cost.series)} series, ${rounded(cost.samples)} samples, ${rounded(cost.duration)} ms an evaluation (mean of the last ${cost.evaluations})${share}${shared}`;
}

function errorLines({ state, lastError, missing }: RuleRecord, style: Style): string[] {
  const lines: string[] = [];
  if (state.health === 'err') {
    const since = state.error_since === null ? '' : ` since ${isoSeconds(state.error_since)}`;
    lines.push('', style.remove(`  It cannot be evaluated${since}: ${oneLine(state.last_error)}`));
  }
  if (lastError) {
    lines.push(
      '',
      `  Last error, ${isoSeconds(lastError.at)}: ${oneLine(lastError.error ?? '')}`,
      `    ${oneLine(lastError.curl)}`,
    );
  }
  return [...lines, ...missing.flatMap((text) => ['', wrap(harmless(text), style.width, '  ')])];
}

function explainEvent(report: ExplainReport): JsonEvent {
  const { found, record } = report;
  const { entity, rule, standing, ids } = found;
  const { source, ...definition } = rule;
  return {
    type: 'rule_explained',
    message: report.sentences[0] ?? '',
    addr: report.address,
    entity: { external_ref: entity.external_ref, name: entity.name, id: ids?.entityId ?? null },
    rule: { id: ids?.ruleId ?? null, ...definition },
    standing,
    ...(source && { range: { filename: source.file, start: { line: source.line, column: source.column } } }),
    meaning: report.sentences,
    query: report.query,
    query_problem: report.queryProblem,
    data_source: report.dataSource,
    channels: report.channels,
    state: record?.state ?? null,
    last_fired: record?.last ?? null,
    last_7_days: record ? frequency(record.week) : null,
    last_30_days: record ? frequency(record.month) : null,
    cost: record?.cost ?? null,
    last_error: record?.lastError ?? null,
  };
}

function frequency({ total, firing_seconds }: RuleRecord['week']): object {
  return { episodes: total, firing_seconds };
}
