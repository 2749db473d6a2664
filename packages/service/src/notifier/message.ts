/** What a message says: the facts of a rule and its episodes, with templates rendered. */
import type { NotificationEvent, NotificationMessage } from '@obsiac/api';
import { groupInput, renderTemplate, type TemplateInput } from '@obsiac/model';
import { formatPlain } from '@obsiac/promql';
import { parseCondition } from '../rules/condition.ts';
import type { NotifyContext, OpenEpisode, RuleDefinition } from './context.ts';
import type { Unit } from './units.ts';

/** Series that a message names; the rest is counted. */
const MOST_SERIES = 20;

/** Longest rendered text that is kept; receivers cut further. */
const LONGEST_TEXT = 16_384;

const SECONDS = 60;

interface Properties {
  readonly description?: string;
  readonly runbook?: { readonly link?: string } | null;
  readonly annotations?: Readonly<Record<string, string>> | null;
}

interface Metadata {
  readonly team?: string;
  readonly tags?: readonly string[] | null;
  readonly links?: readonly { readonly name: string; readonly url: string }[] | null;
}

/** The message of a unit that fires, before it is known to whom it goes. */
export function messageOf(
  context: NotifyContext,
  definition: RuleDefinition,
  unit: Unit,
  event: NotificationEvent,
): NotificationMessage {
  const { rule, indicator } = definition;
  const members = unit.members.map((member) => ({ ...member, worst: worstValue(member, event) }));
  const input = templateInput(unit, members, rule.condition);
  const templates = new Templates(input);
  const properties = JSON.parse(rule.properties) as Properties;
  const unitName = indicator.unit;
  return {
    kind: 'alert',
    event,
    title: titleOf(definition, unit),
    severity: rule.severity,
    organization: context.organization.slug,
    entity: entityOf(definition),
    rule: ruleOf(definition),
    indicator: { name: indicator.name, query: definition.query, unit: unitName },
    data_source: definition.dataSource,
    description: templates.render('description', properties.description ?? ''),
    runbook: templates.render('runbook link', properties.runbook?.link ?? ''),
    annotations: Object.fromEntries(
      Object.entries(properties.annotations ?? {}).map(([name, text]) => [
        name,
        templates.render(`annotation ${JSON.stringify(name)}`, text),
      ]),
    ),
    notes: templates.notes,
    labels: { ...input.labels },
    value: valueText(input.value, unitName),
    series: members.slice(0, MOST_SERIES).map(({ episode, worst, explanation }) => ({
      labels: shownLabels(episode.labels),
      value: valueText(worst, unitName),
      since: episode.firedMinute * SECONDS,
      explanation,
    })),
    series_count: members.length,
    started_at: Math.min(...unit.members.map(({ episode }) => episode.firedMinute)) * SECONDS,
    ended_at: null,
    reason: '',
    link: ruleLink(context),
    mention: [],
  };
}

/** `{public}/organizations/{org}/alert-managers/{entity}/rules/{rule}` */
function ruleLink({ publicUrl, organization, entityId, ruleId }: NotifyContext): string {
  const part = encodeURIComponent;
  return `${publicUrl}/organizations/${part(organization.slug)}/alert-managers/${part(entityId)}/rules/${part(ruleId)}`;
}

/** At first the worst of the bad minutes; when it is repeated the newest, which tells how it goes on. */
function worstValue({ episode, value }: OpenEpisode, event: NotificationEvent): number {
  return event === 'repeat' && !Number.isNaN(value) ? value : episode.value;
}

function templateInput(
  unit: Unit,
  members: readonly (OpenEpisode & { readonly worst: number })[],
  condition: string,
): TemplateInput {
  const [only] = members;
  if (!unit.grouped) return { labels: shownLabels(only!.episode.labels), value: only!.worst };
  const isLeast = parseCondition(condition)?.operator.startsWith('<') ?? false;
  return groupInput(
    members.map(({ episode, worst }) => ({ labels: shownLabels(episode.labels), value: worst })),
    isLeast ? 'least' : 'greatest',
  );
}

/** Without the metric's name, which is no part of a series' identity here. */
function shownLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels)
      .filter(([name, value]) => name !== '__name__' && value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** `Too many errors on Checkout: instance=a, job=api`, or `…: 3 series`. */
function titleOf({ rule, entity }: RuleDefinition, unit: Unit): string {
  const [only] = unit.members;
  const labels = Object.entries(shownLabels(only!.episode.labels)).map(([name, value]) => `${name}=${value}`);
  const which = unit.members.length === 1 ? labels.join(', ') : `${unit.members.length} series`;
  return `${rule.rule_name} on ${entity.name}${which === '' ? '' : `: ${which}`}`;
}

function entityOf({ entity }: RuleDefinition): NotificationMessage['entity'] {
  const { team, tags, links } = JSON.parse(entity.metadata) as Metadata;
  return {
    id: entity.id,
    name: entity.name,
    type: entity.type,
    team: team ?? '',
    tags: [...(tags ?? [])],
    links: [...(links ?? [])],
  };
}

function ruleOf({ rule }: RuleDefinition): NotificationMessage['rule'] {
  const condition = parseCondition(rule.condition);
  return {
    id: rule.id,
    name: rule.rule_name,
    type: ruleType(rule.algorithm),
    condition: condition ? `${condition.operator} ${formatPlain(condition.threshold)}` : rule.condition,
    bad_minutes: rule.bad_minutes,
    total_minutes: rule.eval_window,
  };
}

const TYPES: Readonly<Record<string, string>> = {
  dec_changepoint: 'Decreasing Changepoint',
  inc_changepoint: 'Increasing Changepoint',
  dec_trend: 'Decreasing Trend',
  inc_trend: 'Increasing Trend',
};

function ruleType(algorithm: string): string {
  return (
    TYPES[algorithm] ??
    algorithm.replace(/(^|_)([a-z])/g, (_all, gap, letter) => (gap ? ' ' : '') + letter.toUpperCase())
  );
}

const DIGITS = 6;

/** At most six digits, with the unit: `12.5%`, `3 seconds`, `7`. */
function valueText(value: number, unit: string): string {
  const number = formatPlain(Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : value);
  if (unit === '' || unit.toLowerCase() === 'count') return number;
  return unit === '%' || unit.toLowerCase() === 'percent' ? `${number}%` : `${number} ${unit}`;
}

/** Renders the templates of one message, and notes those that fail. */
class Templates {
  readonly notes: string[] = [];
  readonly #input: TemplateInput;

  constructor(input: TemplateInput) {
    this.#input = input;
  }

  render(what: string, source: string): string {
    const result = renderTemplate(source, this.#input);
    if (!result.ok) this.notes.push(`The template of the ${what} failed: ${result.problem}`);
    return result.text.length > LONGEST_TEXT ? `${result.text.slice(0, LONGEST_TEXT)}…` : result.text;
  }
}
