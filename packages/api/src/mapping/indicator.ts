/** Indicators between the model and the wire, where they are called KPIs. */
import { DEFAULTS, type Indicator } from '@obsiac/model';
import type { ReadKpi } from '../client/answers.ts';
import type { KpiDocument } from '../kpis.ts';

/** `data_source` and `description` are fields of our service; they are left out when empty, as the hosted one does not know them. */
export function indicatorToWire(indicator: Indicator): KpiDocument {
  const { name, query, unit, description, data_source } = indicator;
  return {
    name,
    definition: { query, source: 'levitate', unit, ...(data_source === '' ? {} : { data_source }) },
    kpi_type: 'custom',
    ...(description === '' ? {} : { description }),
  };
}

export function indicatorFromWire(kpi: ReadKpi): Indicator {
  return {
    name: kpi.name,
    query: kpi.definition.query,
    unit: kpi.definition.unit ?? DEFAULTS.unit,
    description: kpi.description ?? '',
    data_source: kpi.definition.data_source ?? '',
  };
}
