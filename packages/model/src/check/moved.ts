/** Checks the confirmed renames of a model. */
import { parseAddress } from '../address.ts';
import type { Moved } from '../model.ts';
import { type FileEntities, placeWords } from './across.ts';
import type { CheckedEntity } from './entity.ts';
import { didYouMean, quote } from './nearest.ts';
import type { Report } from './report.ts';

export function checkMoved(files: readonly FileEntities[], report: Report): void {
  const moved = files.flatMap((file) => file.moved);
  if (moved.length === 0) return;
  const addresses = addressesOf(files.flatMap((file) => file.entities));
  const isComplete = files.every((file) => file.isComplete);
  const entityMoves = new Map<string, string>(moved.map(({ from, to }) => [to, from]));
  const starts = new Set(moved.map(({ from }) => from));
  checkRepeats(moved, report);
  for (const entry of moved) {
    if (!checkAddresses(entry, entityMoves, report)) continue;
    if (addresses.has(entry.from) && entry.from !== entry.to) {
      const detail = `The model still has an object at ${quote(entry.from)}, so it was not renamed. Remove this entry, or the object.`;
      report.add('moved/from', detail, entry.source);
    }
    if (!addresses.has(entry.to) && isComplete && !starts.has(entry.to)) {
      const detail = `The model has no object at ${quote(entry.to)}.${didYouMean(entry.to, addresses)}`;
      report.add('moved/to', detail, entry.source);
    }
  }
}

function addressesOf(entities: readonly CheckedEntity[]): ReadonlySet<string> {
  const addresses = new Set<string>();
  for (const { ref, indicators, rules } of entities) {
    if (!ref) continue;
    addresses.add(ref.name);
    for (const { name } of indicators) addresses.add(`${ref.name}/indicators/${name}`);
    for (const { name } of rules) addresses.add(`${ref.name}/alert_rules/${name}`);
  }
  return addresses;
}

/** True when both addresses are sound and of one kind. */
function checkAddresses(
  { from, to, source }: Moved,
  entityMoves: ReadonlyMap<string, string>,
  report: Report,
): boolean {
  const [before, after] = [from, to].map(parseAddress);
  for (const [text, address] of [
    [from, before],
    [to, after],
  ] as const) {
    if (address && address.kind !== 'channel') continue;
    const what = address ? 'is the address of a channel, which has no name of its own to change' : 'is not an address';
    const detail = `${quote(text)} ${what}. Write EXTERNAL_REF, EXTERNAL_REF/indicators/NAME or EXTERNAL_REF/alert_rules/NAME.`;
    report.add('moved/address', detail, source);
  }
  if (!before || !after || before.kind === 'channel' || after.kind === 'channel') return false;
  if (before.kind !== after.kind) {
    report.add('moved/kind', `${quote(from)} and ${quote(to)} are objects of different kinds.`, source);
    return false;
  }
  const isSameEntity = before.entity === after.entity || entityMoves.get(after.entity) === before.entity;
  if (before.kind !== 'entity' && !isSameEntity) {
    const detail = `An indicator or rule stays with its alert manager, and ${quote(before.entity)} is not ${quote(after.entity)}. If the alert manager was renamed, say so in an entry of its own.`;
    report.add('moved/across', detail, source);
    return false;
  }
  return true;
}

/** Two entries with one end in common, and entries that follow on each other, leave open what the user wants. */
function checkRepeats(moved: readonly Moved[], report: Report): void {
  const byFrom = new Map<string, Moved>();
  const byTo = new Map<string, Moved>();
  for (const entry of moved) {
    const sameFrom = byFrom.get(entry.from);
    const twin = sameFrom ?? byTo.get(entry.to);
    if (twin) {
      const end = sameFrom ? `from ${quote(entry.from)}` : `to ${quote(entry.to)}`;
      const detail = `There is an entry ${end} already, ${placeWords(twin.source, entry.source)}. Keep one.`;
      report.add('moved/duplicate', detail, entry.source);
      continue;
    }
    byFrom.set(entry.from, entry);
    byTo.set(entry.to, entry);
  }
  for (const entry of byFrom.values()) {
    const next = byFrom.get(entry.to);
    if (!next) continue;
    const detail =
      next === entry
        ? 'This entry moves an object to the address it has. Remove it.'
        : `The entry ${placeWords(next.source, entry.source)} goes on from ${quote(entry.to)}. Write one entry from ${quote(entry.from)} to where the object is now.`;
    report.add('moved/chain', detail, entry.source);
  }
}
