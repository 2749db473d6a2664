/** What every check of one alert manager is given. */
import type { Expr } from '@obsiac/promql';
import type { Place } from '../parse/place.ts';
import type { EntityInput } from '../schema/model-schema.ts';
import type { Draft } from '../schema/problems.ts';
import type { Report } from './report.ts';

export interface EntityContext {
  readonly draft: Draft<EntityInput>;
  /** Places below the alert manager. */
  readonly place: Place;
  readonly report: Report;
  /** The trees of the queries that parse, by indicator name. */
  readonly queries: ReadonlyMap<string, Expr>;
}
