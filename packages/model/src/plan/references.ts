/** Whether the channels and data sources that a model names exist in the service. */
import { nearest, oneOf, quote } from '../check/nearest.ts';
import type { Diagnostic, Source } from '../diagnostic.ts';
import type { ChannelBinding, Entity } from '../model.ts';
import { planProblem } from './codes.ts';
import type { Actual, ActualChannel, ActualDataSource } from './plan.ts';

const LISTED_NAMES = 10;
const LISTED_PLACES = 5;

/** Finds the organisation's channel that a binding means; null when there is none, or more than one. */
export type ChannelResolver = (binding: ChannelBinding) => ActualChannel | null;

export function createChannelResolver(channels: readonly ActualChannel[]): ChannelResolver {
  const byName = Map.groupBy(channels, (channel) => channel.name);
  return (binding) => {
    const candidates = candidatesFor(binding, byName.get(binding.name) ?? []);
    const types = new Set(candidates.map((channel) => channel.type.toLowerCase()));
    return types.size > 1 ? null : (candidates[0] ?? null);
  };
}

function candidatesFor(binding: ChannelBinding, named: readonly ActualChannel[]): readonly ActualChannel[] {
  return binding.type === null ? named : named.filter((channel) => channel.type.toLowerCase() === binding.type);
}

/** Errors for unknown channels, and errors or warnings for unknown data sources: one for each name, at its first place. */
export function checkReferences(entities: readonly Entity[], actual: Actual): Diagnostic[] {
  return [...checkChannels(entities, actual.channels), ...checkDataSources(entities, actual.data_sources)];
}

function checkChannels(entities: readonly Entity[], channels: readonly ActualChannel[]): Diagnostic[] {
  const resolve = createChannelResolver(channels);
  const unresolved = new Map<string, { binding: ChannelBinding; places: Source[] }>();
  for (const binding of entities.flatMap((entity) => entity.notification_channels)) {
    if (resolve(binding) !== null) continue;
    const key = `${binding.type ?? ''}:${binding.name}`;
    const known = unresolved.get(key) ?? { binding, places: [] };
    if (binding.source) known.places.push(binding.source);
    unresolved.set(key, known);
  }
  return [...unresolved.values()].map(({ binding, places }) => channelProblem(binding, places, channels));
}

function channelProblem(
  binding: ChannelBinding,
  places: readonly Source[],
  channels: readonly ActualChannel[],
): Diagnostic {
  const named = channels.filter((channel) => channel.name === binding.name);
  const types = [...new Set(named.map((channel) => channel.type.toLowerCase()))];
  const others = otherPlaces(places);
  if (candidatesFor(binding, named).length > 0) {
    const detail = `The service has channels named ${quote(binding.name)} of the types ${oneOf(types, 'and')}. Say which one is meant with \`type\`.${others}`;
    return planProblem('channel/ambiguous', detail, places[0]);
  }
  if (named.length > 0) {
    const detail = `The channel ${quote(binding.name)} is of type ${oneOf(types, 'and')} in the service, not ${binding.type}. Correct the \`type\`, or name another channel.${others}`;
    return planProblem('channel/unknown', detail, places[0]);
  }
  const exists =
    channels.length === 0
      ? 'The service has no channels yet; create it there first.'
      : `The service has ${listNames(binding.name, channels.map(describeChannel))}. Channels are created in the service, not in the model.`;
  return planProblem(
    'channel/unknown',
    `The service has no notification channel named ${quote(binding.name)}. ${exists}${others}`,
    places[0],
  );
}

function describeChannel(channel: ActualChannel): { name: string; text: string } {
  return { name: channel.name, text: `${quote(channel.name)} (${channel.type.toLowerCase()})` };
}

/** ` Did you mean` is part of the order: the nearest name stands first. */
function listNames(wanted: string, all: readonly { name: string; text: string }[]): string {
  const near = nearest(wanted, new Set(all.map((one) => one.name)));
  const first = all.filter((one) => one.name === near);
  const texts = [...new Set([...first, ...all].map((one) => one.text))];
  const shown = texts.slice(0, LISTED_NAMES).join(', ');
  return texts.length > LISTED_NAMES ? `${shown} and ${texts.length - LISTED_NAMES} more` : shown;
}

/** The places after the first; a channel for both severities has one place, not two. */
function otherPlaces(places: readonly Source[]): string {
  const distinct = [...new Set(places.map((place) => `${place.file}:${place.line}`))].slice(1);
  if (distinct.length === 0) return '';
  const shown = distinct.slice(0, LISTED_PLACES).join(', ');
  const more = distinct.length - LISTED_PLACES;
  return ` Also named at ${shown}${more > 0 ? ` and ${more} more places` : ''}.`;
}

function checkDataSources(entities: readonly Entity[], sources: readonly ActualDataSource[]): Diagnostic[] {
  const known = new Set(sources.flatMap((source) => [source.name, source.id]));
  const unknown = new Map<string, Source[]>();
  const visit = (reference: string, source: Source | undefined) => {
    if (reference === '' || known.has(reference)) return;
    const places = unknown.get(reference) ?? [];
    if (source) places.push(source);
    unknown.set(reference, places);
  };
  for (const entity of entities) {
    visit(entity.data_source, entity.source);
    visit(entity.data_source_id, entity.source);
    if (entity.adhoc_filter) visit(entity.adhoc_filter.data_source, entity.source);
    for (const indicator of entity.indicators) visit(indicator.data_source, indicator.source);
  }
  return [...unknown].map(([reference, places]) => dataSourceProblem(reference, places, sources));
}

/**
 * An unknown data source is an error when the service has several, or when the name is nearly that of one: then it is a
 * mistake. While there is none, or only the default one, it is a warning: the service is new, and rules may be applied
 * before their data source is added.
 */
function dataSourceProblem(
  reference: string,
  places: readonly Source[],
  sources: readonly ActualDataSource[],
): Diagnostic {
  const names = sources.map((source) => source.name);
  const isNew = sources.every((source) => source.is_default) && sources.length <= 1;
  const severity = isNew && nearest(reference, names) === undefined ? 'warning' : 'error';
  const exists =
    sources.length === 0
      ? 'The service has no data sources yet.'
      : `The service has ${listNames(
          reference,
          sources.map((source) => ({ name: source.name, text: quote(source.name) })),
        )}.`;
  const consequence = 'Rules on it cannot be evaluated until it is added to the service.';
  return planProblem(
    'data-source/unknown',
    `The service has no data source with the name or id ${quote(reference)}. ${exists} ${consequence}${otherPlaces(places)}`,
    places[0],
    severity,
  );
}
