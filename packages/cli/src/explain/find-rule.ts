/** Finds the rule that a user names, in the model and in the service. */
import {
  type Actual,
  type ActualEntity,
  type AlertRule,
  canonicalRule,
  createComparison,
  didYouMean,
  type Entity,
  type Model,
  parseAddress,
} from '@obsiac/model';
import { commandLine } from '../commands/shell-words.ts';
import { EXIT } from '../exit-code.ts';
import { Failure } from '../failure.ts';

/** How the rule in the model and the one in the service stand to each other. */
export type Standing = 'applied' | 'changed' | 'not_applied' | 'service_only' | 'model_only';

export interface FoundRule {
  readonly entity: Entity;
  readonly rule: AlertRule;
  /** `model_only`: the service was not asked. */
  readonly standing: Standing;
  /** Undefined: the service does not have it, or was not asked. */
  readonly ids: { readonly entityId: string; readonly ruleId: string } | undefined;
}

export interface RuleSearch {
  /** A name, or an address as plans print it. */
  readonly wanted: string;
  /** `external_ref` or name; undefined: all. */
  readonly entity: string | undefined;
  /** Null: no model was given. */
  readonly model: Model | null;
  /** Null: the service was not asked. */
  readonly actual: Actual | null;
  /** Words of the command line up to the rule, for suggestions. */
  readonly command: readonly string[];
}

/** @throws Failure `rule_not_found`, `rule_ambiguous` */
export function findRule(search: RuleSearch): FoundRule {
  const all = everyRule(search);
  const within = all.filter(({ entity }) => isEntity(entity, search.entity));
  const address = parseAddress(search.wanted);
  const byName = within.filter(({ rule }) => rule.name === search.wanted);
  const found =
    byName.length > 0 || address?.kind !== 'alert_rule'
      ? byName
      : within.filter(({ entity, rule }) => entity.external_ref === address.entity && rule.name === address.name);
  const [only, other] = found;
  if (only === undefined) throw notFound(search, all, within);
  if (other !== undefined) throw ambiguous(search, found);
  return only;
}

function isEntity(entity: Entity, wanted: string | undefined): boolean {
  return wanted === undefined || entity.external_ref === wanted || entity.name === wanted;
}

/** Each rule once: the model's where there is one. */
function everyRule({ model, actual }: RuleSearch): FoundRule[] {
  const inService = new Map((actual?.entities ?? []).map((each) => [each.entity.external_ref, each]));
  const desired = (model?.entities ?? []).flatMap((entity) =>
    entity.alert_rules.map((rule) => ofModel(entity, rule, inService.get(entity.external_ref), actual)),
  );
  const known = new Set(desired.map(keyOf));
  const rest = (actual?.entities ?? []).flatMap((each) =>
    each.entity.alert_rules.map(
      (rule): FoundRule => ({ entity: each.entity, rule, standing: 'service_only', ids: idsOf(each, rule) }),
    ),
  );
  return [...desired, ...rest.filter((each) => !known.has(keyOf(each)))];
}

function keyOf({ entity, rule }: Pick<FoundRule, 'entity' | 'rule'>): string {
  return JSON.stringify([entity.external_ref, rule.name]);
}

function idsOf(actual: ActualEntity, rule: AlertRule): FoundRule['ids'] {
  const ruleId = actual.ruleIds[rule.name];
  return ruleId === undefined ? undefined : { entityId: actual.id, ruleId };
}

function ofModel(entity: Entity, rule: AlertRule, service: ActualEntity | undefined, actual: Actual | null): FoundRule {
  if (actual === null) return { entity, rule, standing: 'model_only', ids: undefined };
  const there = service?.entity.alert_rules.find(({ name }) => name === rule.name);
  if (!service || !there) return { entity, rule, standing: 'not_applied', ids: undefined };
  return {
    entity,
    rule,
    standing: isSame(rule, there, entity, service.entity, actual) ? 'applied' : 'changed',
    ids: idsOf(service, there),
  };
}

/** Whether the rule and its indicator mean the same in both. */
function isSame(rule: AlertRule, there: AlertRule, entity: Entity, service: Entity, actual: Actual): boolean {
  const comparison = createComparison(actual.data_sources);
  const form = (each: AlertRule) => JSON.stringify(canonicalRule(each, comparison));
  const query = (of: Entity, name: string) => of.indicators.find((indicator) => indicator.name === name)?.query.trim();
  return form(rule) === form(there) && query(entity, rule.indicator) === query(service, there.indicator);
}

function notFound(search: RuleSearch, all: readonly FoundRule[], within: readonly FoundRule[]): Failure {
  const { wanted, entity } = search;
  const names = (rules: readonly FoundRule[]) => new Set(rules.map(({ rule }) => rule.name));
  const where =
    search.model === null ? 'the service' : search.actual === null ? 'the model' : 'the model or the service';
  if (entity !== undefined && within.length === 0) {
    const refs = all.flatMap((each) => [each.entity.external_ref, each.entity.name]);
    return new Failure(EXIT.error, {
      code: 'entity_not_found',
      summary: `There is no alert manager ${entity} with rules in ${where}`,
      detail: didYouMean(entity, refs).trim() || `There are ${new Set(refs).size} names.`,
    });
  }
  const elsewhere = all.filter(({ rule }) => rule.name === wanted).map((each) => each.entity.external_ref);
  const hint =
    elsewhere.length > 0 ? ` ${elsewhere.join(' and ')} has one of this name.` : didYouMean(wanted, names(within));
  return new Failure(EXIT.error, {
    code: 'rule_not_found',
    summary: `There is no alert rule ${JSON.stringify(wanted)} in ${entity ?? where}`,
    detail: `${within.length === 1 ? 'It has 1 rule' : `It has ${within.length} rules`}.${hint}`,
  });
}

function ambiguous({ wanted, command }: RuleSearch, found: readonly FoundRule[]): Failure {
  return new Failure(EXIT.error, {
    code: 'rule_ambiguous',
    summary: `${found.length} alert managers have a rule ${JSON.stringify(wanted)}`,
    detail: 'Name the alert manager with --entity:',
    commands: found.map(({ entity }) => commandLine([...command, wanted, '--entity', entity.external_ref])),
  });
}
