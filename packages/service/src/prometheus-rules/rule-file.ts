/** A Prometheus rule file as far as a model can hold it (format: Prometheus documentation, "Alerting rules"). */
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { Refusal, refuseField } from '../refusal.ts';

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const labels = z.record(z.string(), text).nullish();

const rule = z.object({
  alert: z.string().min(1).optional(),
  record: z.string().optional(),
  expr: text,
  for: text.optional(),
  keep_firing_for: text.optional(),
  labels,
  annotations: labels,
});
export type PrometheusRule = z.infer<typeof rule>;

const group = z.object({ name: z.string().min(1), rules: z.array(rule).nullish() });
export type PrometheusGroup = z.infer<typeof group>;

const ruleFile = z.object({ groups: z.array(group).min(1) });

/** @throws Refusal `bad_request` that names the line, or the path to the field */
export function readRuleFile(source: string): PrometheusGroup[] {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lines.linePos(error.pos[0]);
    throw refuseField('body', `line ${line}, column ${col}: ${error.message}`);
  }
  const result = ruleFile.safeParse(toValue(() => document.toJS()));
  if (result.success) return result.data.groups;
  const details = result.error.issues.map((issue) => ({
    path: ['body', ...issue.path].join('.'),
    message: issue.message,
  }));
  const [first] = details;
  throw new Refusal('bad_request', `Not a Prometheus rule file: ${first!.path}: ${first!.message}`, { details });
}

/** Aliases that would unfold without end are refused by the YAML library when the value is made. */
function toValue(make: () => unknown): unknown {
  try {
    return make();
  } catch (error) {
    throw refuseField('body', (error as Error).message);
  }
}
