/** The state as text: keys sorted, one object a line, so that two states can be compared line by line. */
import type { AppliedChannel, AppliedEntity, AppliedObject, PendingOperation, State } from './state.ts';

/** An entity's text does not change unless the entity does, and most writes during an apply change few of them. */
const entityTexts = new WeakMap<AppliedEntity, string>();

/** The text of a state file, which ends with the SHA-256 of what it says. */
export function writeState(state: State, sha256: (text: string) => string): string {
  const body = stateBody(state);
  return `${body},\n"checksum": ${quoted(sha256(body))}\n}\n`;
}

/** All of a state file but the checksum: what the checksum is made of. */
export function stateBody(state: State): string {
  const refs = Object.keys(state.entities).sort();
  const entities = refs.map((ref) => `\n${quoted(ref)}: ${entityText(state.entities[ref]!)}`);
  const pending = state.pending.map((operation) => `\n${operationText(operation)}`);
  return `{
"version": ${state.version},
"serial": ${state.serial},
"lineage": ${quoted(state.lineage)},
"tool_version": ${quoted(state.tool_version)},
"api_base_url": ${quoted(state.api_base_url)},
"org": ${quoted(state.org)},
"updated_at": ${quoted(state.updated_at)},
"entities": {${entities.join(',')}
},
"pending": [${pending.join(',')}
]`;
}

function entityText(entity: AppliedEntity): string {
  const known = entityTexts.get(entity);
  if (known !== undefined) return known;
  const channels = [...entity.channels].sort(byNameAndSeverity).map((channel) => `\n  ${channelText(channel)}`);
  const text = `{"id": ${quoted(entity.id)}, "digest": ${quoted(entity.digest)},
 "indicators": {${objectTexts(entity.indicators)}},
 "alert_rules": {${objectTexts(entity.alert_rules)}},
 "channels": [${channels.join(',')}]}`;
  entityTexts.set(entity, text);
  return text;
}

function objectTexts(objects: Readonly<Record<string, AppliedObject>>): string {
  return Object.keys(objects)
    .sort()
    .map((name) => {
      const { id, digest } = objects[name]!;
      return `\n  ${quoted(name)}: {"id": ${quoted(id)}, "digest": ${quoted(digest)}}`;
    })
    .join(',');
}

function channelText({ id, name, severity, digest }: AppliedChannel): string {
  return `{"id": ${quoted(id)}, "name": ${quoted(name)}, "severity": ${quoted(severity)}, "digest": ${quoted(digest)}}`;
}

function operationText({ address, action, id, digest }: PendingOperation): string {
  return JSON.stringify({ address, action, id, digest });
}

function byNameAndSeverity(a: AppliedChannel, b: AppliedChannel): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.severity < b.severity ? -1 : Number(a.severity > b.severity);
}

const quoted = (text: string) => JSON.stringify(text);
