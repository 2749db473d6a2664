/**
 * The smallest service that a plan can be applied to, in memory: it keeps ids, refuses what a real one refuses, deletes what
 * is in an entity along with it, and gives some answers back in another spelling than it got them.
 */
import { createHash } from 'node:crypto';
import {
  type Actual,
  type ActualChannel,
  type ActualDataSource,
  type AlertRule,
  type Change,
  type ChannelBinding,
  type ChannelChange,
  type ChannelType,
  type Entity,
  type Indicator,
  parseAddress,
} from '../src/index.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

interface Holding {
  id: string;
  own: Entity;
  readonly indicators: Map<string, Indicator>;
  /** With the id of the indicator, by which a rule follows its indicator's name. */
  readonly rules: Map<string, { readonly rule: AlertRule; readonly indicatorId: string | undefined }>;
  readonly bindings: Map<string, { readonly binding: ChannelBinding; readonly channelId: string }>;
}

export interface ServiceOptions {
  readonly channels?: readonly ActualChannel[];
  readonly data_sources?: readonly ActualDataSource[];
  /** Whether renaming an indicator renames it in the rules on it. */
  readonly cascadesRenames?: boolean;
}

export class ReferenceService {
  readonly #options: ServiceOptions;
  readonly #entities = new Map<string, Holding>();
  #lastId = 0;
  /** Addresses of the changes carried out, in order. */
  readonly log: string[] = [];

  constructor(options: ServiceOptions = {}) {
    this.#options = options;
  }

  /** What a plan is made against. Maps and sets come back in another order than they went in. */
  actual(): Actual {
    const entities = [...this.#entities.values()].map((held) => {
      const indicators = [...held.indicators];
      const rules = [...held.rules].map(
        ([id, { rule, indicatorId }]) => [id, this.#withIndicator(rule, held, indicatorId)] as const,
      );
      const bindings = [...held.bindings].map(([id, { binding, channelId }]) => {
        const type = this.#channel(channelId).type as ChannelType;
        return [id, { ...binding, type, mention: binding.mention.toReversed() }] as const;
      });
      return {
        id: held.id,
        entity: {
          ...held.own,
          tags: held.own.tags.toReversed(),
          labels: reversed(held.own.labels),
          indicators: indicators.map(([, indicator]) => ({ ...indicator, query: ` ${indicator.query}\n` })),
          alert_rules: rules.map(([, rule]) => rule).toReversed(),
          notification_channels: bindings.map(([, binding]) => binding),
        },
        indicatorIds: Object.fromEntries(indicators.map(([id, { name }]) => [name, id])),
        ruleIds: Object.fromEntries(rules.map(([id, { name }]) => [name, id])),
        bindingIds: Object.fromEntries(bindings.map(([id, { name, severity }]) => [`${name}/${severity}`, id])),
      };
    });
    return {
      entities,
      channels: this.#options.channels ?? [],
      data_sources: this.#options.data_sources ?? [],
    };
  }

  /** Does what a change says; gives the id of what it made or changed. Throws where a service would refuse. */
  send(change: Change): string | undefined {
    this.log.push(`${change.action} ${change.address}`);
    const { entity, name } = parseAddress(change.address)!;
    if (change.kind === 'entity') return this.#sendEntity(change.action, change.id, change.desired);
    const held = this.#find(entity);
    switch (change.kind) {
      case 'indicator':
        return this.#sendIndicator(held, change.action, change.id, change.desired);
      case 'alert_rule':
        return this.#sendRule(held, change.action, change.id, change.desired);
      case 'channel':
        return this.#sendBinding(held, change, name);
    }
  }

  #sendEntity(action: Change['action'], id: string | undefined, desired: Entity | undefined): string | undefined {
    if (action === 'delete') {
      this.#mustHave(this.#entities, id);
      this.#entities.delete(id!);
      return undefined;
    }
    const own = { ...desired!, indicators: [], alert_rules: [], notification_channels: [] };
    const taken = [...this.#entities.values()].find((held) => held.own.external_ref === own.external_ref);
    if (taken && taken.id !== id) throw new Error(`409: external_ref ${own.external_ref} is taken`);
    if (action !== 'create') {
      this.#mustHave(this.#entities, id).own = own;
      return id;
    }
    const created = this.#newId();
    this.#entities.set(created, { id: created, own, indicators: new Map(), rules: new Map(), bindings: new Map() });
    return created;
  }

  #sendIndicator(held: Holding, action: Change['action'], id: string | undefined, desired: Indicator | undefined) {
    if (action === 'delete') {
      this.#mustHave(held.indicators, id);
      const users = [...held.rules.values()].filter((one) => one.indicatorId === id);
      if (users.length > 0) throw new Error(`409: indicator ${id} is used by ${users.map(({ rule }) => rule.name)}`);
      held.indicators.delete(id!);
      return undefined;
    }
    this.#mustBeFree(held.indicators, desired!.name, id, (indicator) => indicator.name);
    return this.#store(held.indicators, action, id, desired!);
  }

  #sendRule(held: Holding, action: Change['action'], id: string | undefined, desired: AlertRule | undefined) {
    if (action === 'delete') {
      this.#mustHave(held.rules, id);
      held.rules.delete(id!);
      return undefined;
    }
    this.#mustBeFree(held.rules, desired!.name, id, ({ rule }) => rule.name);
    const indicatorId = [...held.indicators].find(([, indicator]) => indicator.name === desired!.indicator)?.[0];
    if (indicatorId === undefined) throw new Error(`400: no indicator ${desired!.indicator}`);
    return this.#store(held.rules, action, id, { rule: desired!, indicatorId });
  }

  #sendBinding(held: Holding, change: ChannelChange, key: string): string | undefined {
    if (change.action === 'delete') {
      this.#mustHave(held.bindings, change.id);
      held.bindings.delete(change.id!);
      return undefined;
    }
    this.#channel(change.channelId ?? '');
    this.#mustBeFree(held.bindings, key, change.id, ({ binding }) => `${binding.name}/${binding.severity}`);
    const binding = { binding: change.desired!, channelId: change.channelId! };
    return this.#store(held.bindings, change.action, change.id, binding);
  }

  #store<Value>(map: Map<string, Value>, action: Change['action'], id: string | undefined, value: Value): string {
    if (action !== 'create') this.#mustHave(map, id);
    const key = action === 'create' ? this.#newId() : id!;
    map.set(key, value);
    return key;
  }

  #withIndicator(rule: AlertRule, held: Holding, indicatorId: string | undefined): AlertRule {
    const { labels: label_filter, annotations } = {
      labels: reversed(rule.label_filter),
      annotations: reversed(rule.annotations),
    };
    const name = this.#options.cascadesRenames ? held.indicators.get(indicatorId ?? '')?.name : undefined;
    if (name === undefined) return { ...rule, label_filter, annotations };
    const pattern = rule.pattern && { ...rule.pattern, indicator: name };
    return { ...rule, indicator: name, ...(pattern && { pattern }), label_filter, annotations };
  }

  #channel(id: string): ActualChannel {
    const channel = this.#options.channels?.find((one) => one.id === id);
    if (!channel) throw new Error(`404: channel ${id}`);
    return channel;
  }

  #find(ref: string): Holding {
    const held = [...this.#entities.values()].find(({ own }) => own.external_ref === ref);
    if (!held) throw new Error(`404: entity ${ref}`);
    return held;
  }

  #mustHave<Value>(map: ReadonlyMap<string, Value>, id: string | undefined): Value {
    const value = map.get(id ?? '');
    if (value === undefined) throw new Error(`404: ${id}`);
    return value;
  }

  #mustBeFree<Value>(
    map: ReadonlyMap<string, Value>,
    name: string,
    id: string | undefined,
    nameOf: (value: Value) => string,
  ) {
    for (const [key, value] of map) if (key !== id && nameOf(value) === name) throw new Error(`409: ${name} is taken`);
  }

  #newId(): string {
    this.#lastId += 1;
    return `id-${this.#lastId}`;
  }
}

function reversed(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).reverse());
}
