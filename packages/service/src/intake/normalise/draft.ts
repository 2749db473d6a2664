/** A row of the log store under construction. */
import type { RecordRow } from '../../log-store/index.ts';
import type { Attributes } from './values.ts';

export type Draft = { -readonly [Name in keyof RecordRow]: RecordRow[Name] } & { attributes: Attributes };
