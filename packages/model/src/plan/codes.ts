/** Every problem that a plan can have, for the diagnostics and for the reference page of the documentation. */
import type { Diagnostic, DiagnosticSeverity, Source } from '../diagnostic.ts';

interface CodeEntry {
  readonly severity: DiagnosticSeverity;
  readonly summary: string;
  /** One sentence for the reference page. */
  readonly meaning: string;
}

export const PLAN_CODES = {
  'channel/unknown': {
    severity: 'error',
    summary: 'Unknown notification channel',
    meaning: 'The model names a notification channel that the service does not have, or has with another type.',
  },
  'channel/ambiguous': {
    severity: 'error',
    summary: 'Ambiguous notification channel',
    meaning:
      'The service has channels of several types under the name, and the model does not say which type it means.',
  },
  'data-source/unknown': {
    severity: 'error',
    summary: 'Unknown data source',
    meaning:
      'The model names a data source that the service does not have; only a warning while the service has none, or none but its default one, since data sources are often added later.',
  },
  'moved/blocked': {
    severity: 'warning',
    summary: 'New address already taken',
    meaning: 'A `moved` entry could not be followed, since the service has different objects at both addresses.',
  },
  'entity/unmanaged-children': {
    severity: 'warning',
    summary: 'Unmanaged objects are deleted too',
    meaning: 'An alert manager to be deleted holds objects that were never in the model, and they go with it.',
  },
  'indicator/used-by-unmanaged': {
    severity: 'warning',
    summary: 'Indicator is used by unmanaged rules',
    meaning: 'An indicator to be deleted or renamed is used by alert rules that were never in the model.',
  },
  'plan/mass-deletion': {
    severity: 'error',
    summary: 'Plan deletes most of what is managed',
    meaning:
      'The model is empty, or the plan deletes more than half of what the state manages and more than 5 objects.',
  },
} as const satisfies Record<string, CodeEntry>;

export type PlanCode = keyof typeof PLAN_CODES;

/** Builds the diagnostic for a code, with its usual severity unless another is given. */
export function planProblem(
  code: PlanCode,
  detail: string,
  source?: Source,
  severity: DiagnosticSeverity = PLAN_CODES[code].severity,
): Diagnostic {
  return { severity, code, summary: PLAN_CODES[code].summary, detail, ...(source && { source }) };
}
