/** Which fields of a change are worth a line on the screen. The JSON events have all of them. */
import { type Change, DEFAULTS, type FieldChange, type Json, shownFields } from '@obsiac/model';

/** Fields that the heading of a change already says. */
const IN_HEADING: Readonly<Record<Change['kind'], readonly string[]>> = {
  entity: ['external_ref'],
  indicator: ['name'],
  alert_rule: ['name'],
  channel: ['name', 'severity'],
};

/** What a new object has when the model does not say otherwise. */
const USUAL: Readonly<Record<string, Json>> = {
  entity_class: DEFAULTS.entity_class,
  team: DEFAULTS.team,
  unit: DEFAULTS.unit,
  group_timeseries_notifications: DEFAULTS.group_timeseries_notifications,
  ui_readonly: false,
  is_disabled: false,
  mute: false,
};

/** What differs; of a new object what it has beyond its name and the usual. */
export function fieldsWorthShowing(change: Change): readonly FieldChange[] {
  const said = IN_HEADING[change.kind];
  if (change.action !== 'create') {
    // A move has the names before and after in its heading.
    return change.fields.filter(({ path }) => change.action !== 'move' || !said.includes(path));
  }
  return shownFields(change).filter(({ path, after }) => !said.includes(path) && USUAL[path] !== after);
}
