/** Checks the indicators of one alert manager against each other. */
import type { EntityContext } from './context.ts';
import { quote } from './nearest.ts';

export function checkIndicators({ draft, place, report }: EntityContext): void {
  const seen = new Map<string, number>();
  (draft.indicators ?? []).forEach((indicator, i) => {
    const name = indicator?.name;
    if (name === undefined) return;
    const first = seen.get(name);
    if (first === undefined) {
      seen.set(name, i);
      return;
    }
    const { line } = place.object(['indicators', first]);
    const detail = `This alert manager has an indicator ${quote(name)} already, in line ${line}. Rename or remove one.`;
    report.add('indicator/name-duplicate', detail, place.value(['indicators', i, 'name']));
  });
}
