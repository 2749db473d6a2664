/** Puts the lists of a service together into what a plan compares with. */
import {
  alertRuleFromWire,
  bindingFromWire,
  channelFromWire,
  entityFromWire,
  indicatorFromWire,
  isAttachment,
  type ReadAlertRule,
  type ReadChannelRow,
  type ReadDataSource,
  type ReadEntity,
  type ReadKpi,
} from '@obsiac/api';
import { type Actual, type ActualEntity, bindingKey } from '@obsiac/model';

/** The lists as read; indicators, rules and attachments say which entity they belong to. */
export interface Parts {
  readonly entities: readonly ReadEntity[];
  readonly kpis: readonly ReadKpi[];
  readonly rules: readonly ReadAlertRule[];
  readonly channels: readonly ReadChannelRow[];
  readonly sources: readonly ReadDataSource[];
}

export function toActual({ entities, kpis, rules, channels, sources }: Parts): Actual {
  const master = channels.filter((row) => !isAttachment(row));
  const names = new Map(master.map((row) => [row.id, row.name]));
  const kpisOf = Map.groupBy(kpis, (kpi) => kpi.entity_id ?? '');
  const rulesOf = Map.groupBy(rules, (rule) => rule.entity_id ?? '');
  const attachmentsOf = Map.groupBy(channels.filter(isAttachment), (row) => row.service_fqid ?? '');
  return {
    entities: entities.map((entity) =>
      toEntity(
        entity,
        kpisOf.get(entity.id) ?? [],
        rulesOf.get(entity.id) ?? [],
        attachmentsOf.get(entity.id) ?? [],
        names,
      ),
    ),
    channels: master.map(channelFromWire),
    data_sources: sources.map(({ id, name, is_default }) => ({ id, name, is_default: is_default ?? false })),
  };
}

/** Names may be those of members of every object, so the records have no prototype. */
function record(entries: Iterable<readonly [string, string]>): Record<string, string> {
  const result = Object.create(null) as Record<string, string>;
  // Should there be two of one name, the first counts, as in the plan.
  for (const [key, value] of entries) result[key] ??= value;
  return result;
}

function toEntity(
  entity: ReadEntity,
  kpis: readonly ReadKpi[],
  rules: readonly ReadAlertRule[],
  attachments: readonly ReadChannelRow[],
  names: ReadonlyMap<string, string>,
): ActualEntity {
  const bindings = attachments.map((row) => {
    // A service that does not say which channel a row attaches gives the row the channel's name.
    const name = (row.parent_id != null && names.get(row.parent_id)) || row.name;
    return { id: row.id, binding: bindingFromWire(row, name) };
  });
  return {
    id: entity.id,
    entity: {
      ...entityFromWire(entity),
      indicators: kpis.map(indicatorFromWire),
      alert_rules: rules.map(alertRuleFromWire),
      notification_channels: bindings.map(({ binding }) => binding),
    },
    indicatorIds: record(kpis.map((kpi) => [kpi.name, kpi.id])),
    ruleIds: record(rules.map((rule) => [rule.rule_name, rule.id])),
    bindingIds: record(bindings.map(({ id, binding }) => [bindingKey(binding), id])),
  };
}
