/** Sends one change of a plan: which requests it takes, and which id comes back. */
import {
  ApiError,
  type Ask,
  alertRuleToWire,
  bindingToWire,
  type Client,
  entityToWire,
  indicatorToWire,
  metadataToWire,
  type Scope,
} from '@obsiac/api';
import {
  type AlertRuleChange,
  type Change,
  type ChannelChange,
  childAddress,
  type EntityChange,
  type IndicatorChange,
  parseAddress,
} from '@obsiac/model';
import type { HeldRules } from './held-rules.ts';

export interface OperationContext {
  readonly client: Client;
  /** Address to the service's id, of everything that stands or was made in this run. */
  readonly ids: ReadonlyMap<string, string>;
  readonly heldRules: HeldRules;
  /** Told when the first of several requests has gone through: from then on the operation is half done when it fails. */
  readonly halfDone: (change: Change, id: string) => void;
}

/** The scope that the last request of a change needs. */
export function scopeOf(change: Change): Scope {
  return change.action === 'delete' && change.kind !== 'channel' ? 'delete' : 'write';
}

/** Sends it and gives the id to record; undefined after a deletion. Throws `ApiError`. `ask` holds for the first write. */
export function send(change: Change, context: OperationContext, ask: Ask): Promise<string | undefined> {
  if (change.action === 'delete') return sendDelete(change, context, ask);
  switch (change.kind) {
    case 'entity':
      return sendEntity(change, context, ask);
    case 'indicator':
      return sendIndicator(change, context, ask);
    case 'alert_rule':
      return sendRule(change, context, ask);
    case 'channel':
      return sendChannel(change, context, ask);
  }
}

function entityIdOf(change: Change, { ids }: OperationContext): string {
  const entity = parseAddress(change.address)?.entity ?? '';
  const id = ids.get(entity);
  if (id === undefined) throw new Error(`the plan has no id for ${entity}, which ${change.address} is in`);
  return id;
}

function wanted<Value>(change: { readonly address: string; readonly desired?: Value }): Value {
  if (change.desired === undefined) throw new Error(`the plan does not say what ${change.address} is to be`);
  return change.desired;
}

function held(change: Change): string {
  if (change.id === undefined) throw new Error(`the plan has no id for ${change.address}`);
  return change.id;
}

/** The fields that travel in the metadata document. */
const METADATA_FIELDS = /^(team|tags|labels|links|adhoc_filter)(\.|\[|$)/;

async function sendEntity(change: EntityChange, { client, halfDone }: OperationContext, ask: Ask): Promise<string> {
  const entity = wanted(change);
  const later: Ask = { signal: ask.signal };
  if (change.action === 'create') {
    const { id } = await client.createEntity(entityToWire(entity), ask);
    halfDone(change, id);
    await client.putMetadata(id, metadataToWire(entity), later);
    return id;
  }
  const id = held(change);
  const inMetadata = change.fields.some(({ path }) => METADATA_FIELDS.test(path));
  const inEntity = change.action === 'move' || change.fields.some(({ path }) => !METADATA_FIELDS.test(path));
  if (inEntity) {
    await client.updateEntity(id, entityToWire(entity), ask);
    halfDone(change, id);
  }
  if (inMetadata) {
    const { metadata } = await client.getEntity(id, later);
    await client.putMetadata(id, metadataToWire(entity, metadata), inEntity ? later : ask);
  }
  return id;
}

async function sendIndicator(change: IndicatorChange, context: OperationContext, ask: Ask): Promise<string> {
  const entityId = entityIdOf(change, context);
  const document = indicatorToWire(wanted(change));
  const { client } = context;
  const kpi = await (change.action === 'create'
    ? client.createKpi(entityId, document, ask)
    : client.updateKpi(entityId, held(change), document, ask));
  return kpi.id;
}

async function sendRule(change: AlertRuleChange, context: OperationContext, ask: Ask): Promise<string> {
  const entityId = entityIdOf(change, context);
  const entity = parseAddress(change.address)?.entity ?? '';
  const kpiId = (name: string): string | undefined => context.ids.get(childAddress(entity, 'indicator', name));
  const rule = wanted(change);
  if (change.action === 'create') {
    return (await context.client.createAlertRule(entityId, alertRuleToWire(rule, kpiId), ask)).id;
  }
  const id = held(change);
  const existing = await context.heldRules.undeclared(entityId, id, ask);
  return (await context.client.updateAlertRule(entityId, id, alertRuleToWire(rule, kpiId, existing), ask)).id;
}

/** Attaching again changes who is mentioned. A service that makes a second row of it has the first one detached. */
async function sendChannel(change: ChannelChange, context: OperationContext, ask: Ask): Promise<string> {
  if (change.channelId === undefined) throw new Error(`the plan has no channel for ${change.address}`);
  const entityId = entityIdOf(change, context);
  const row = await context.client.attachChannel(change.channelId, bindingToWire(wanted(change), entityId), ask);
  if (change.id !== undefined && change.id !== row.id) {
    context.halfDone(change, row.id);
    await gone(context.client.detachChannel(change.id, { signal: ask.signal }));
  }
  return row.id;
}

async function sendDelete(change: Change, context: OperationContext, ask: Ask): Promise<undefined> {
  const { client } = context;
  const id = held(change);
  switch (change.kind) {
    case 'entity':
      return gone(client.deleteEntity(id, ask));
    case 'indicator':
      return gone(client.deleteKpi(entityIdOf(change, context), id, ask));
    case 'alert_rule':
      return gone(client.deleteAlertRule(entityIdOf(change, context), id, ask));
    case 'channel':
      return gone(client.detachChannel(id, ask));
  }
}

/** What is not there any more is deleted. */
async function gone(deletion: Promise<void>): Promise<undefined> {
  try {
    await deletion;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
  }
  return undefined;
}
