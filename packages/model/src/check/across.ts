/** Checks that need all alert managers of all files: names that must be, or should be, unique over the model. */
import type { Source } from '../diagnostic.ts';
import type { Moved } from '../model.ts';
import type { CheckedEntity, Named } from './entity.ts';
import { quote } from './nearest.ts';
import type { Report } from './report.ts';

/** What was read from one file. */
export interface FileEntities {
  readonly entities: readonly CheckedEntity[];
  readonly moved: readonly Moved[];
  /** False when some of the file could not be read. */
  readonly isComplete: boolean;
}

export function checkAcross(files: readonly FileEntities[], report: Report): void {
  const entities = files.flatMap((file) => file.entities);
  checkRefs(entities, report);
  checkSharedRuleNames(entities, report);
}

function checkRefs(entities: readonly CheckedEntity[], report: Report): void {
  const seen = new Map<string, Named>();
  for (const { ref } of entities) {
    if (!ref) continue;
    const first = seen.get(ref.name);
    if (first) {
      const detail = `The external_ref ${quote(ref.name)} is taken ${placeWords(first.source, ref.source)}. Each alert manager of the model needs one of its own.`;
      report.add('entity/external-ref-duplicate', detail, ref.source);
    } else seen.set(ref.name, ref);
  }
}

interface Shared {
  readonly first: Named;
  readonly owner: CheckedEntity;
  second?: Named;
  /** Alert managers that have a rule of this name. */
  count: number;
}

/** One warning for a name, however many alert managers share it. */
function checkSharedRuleNames(entities: readonly CheckedEntity[], report: Report): void {
  const seen = new Map<string, Shared>();
  for (const owner of entities) {
    for (const name of new Map(owner.rules.map((rule) => [rule.name, rule])).values()) {
      const shared = seen.get(name.name);
      if (shared) {
        shared.count += 1;
        shared.second ??= name;
      } else seen.set(name.name, { first: name, owner, count: 1 });
    }
  }
  for (const { first, second, owner, count } of seen.values()) {
    if (!second) continue;
    const others = count > 2 ? ` In all, ${count} alert managers use it.` : '';
    const detail = `${quote(owner.label)} has a rule ${quote(first.name)} too, ${placeWords(first.source, second.source)}.${others} Names of their own make notifications easier to tell apart.`;
    report.add('rule/name-shared', detail, second.source);
  }
}

/** `in line 3` or `in other.yaml, line 3`. */
export function placeWords(source: Source | undefined, from: Source | undefined): string {
  if (!source) return 'elsewhere';
  return source.file === from?.file ? `in line ${source.line}` : `in ${source.file}, line ${source.line}`;
}
