/** Renders the templates of descriptions, annotations and runbook links for one alert, or for a group of them. */
import { execute, type Limits } from './execute.ts';
import { isFunction } from './functions.ts';
import { parseTemplate } from './parse.ts';
import { float, type MapValue, TemplateProblem, text, type Value } from './value.ts';

export interface TemplateInput {
  /** What `$labels` and `.Labels` are. */
  readonly labels: Readonly<Record<string, string>>;
  /** What `$value` and `.Value` are. */
  readonly value: number;
  /** For a group of alerts: how many values each label has. `{{ $labels }}` then shows these numbers. */
  readonly labelCounts?: Readonly<Record<string, number>>;
}

export type RenderedTemplate =
  | { readonly ok: true; readonly text: string }
  /** `text` is the template itself, `problem` a sentence about what is wrong with it. */
  | { readonly ok: false; readonly text: string; readonly problem: string };

/** Longest template, in UTF-16 units: as long as the API takes. */
const LONGEST_SOURCE = 65_536;

const LIMITS: Limits = { output: 65_536, steps: 20_000 };

/**
 * Renders a template of Go's text/template with the data of a Prometheus alert. It always ends and never throws: a template that
 * fails comes back as it is, with the problem.
 */
export function renderTemplate(source: string, input: TemplateInput): RenderedTemplate {
  if (!source.includes('{{')) return { ok: true, text: source };
  if (source.length > LONGEST_SOURCE) {
    return { ok: false, text: source, problem: `The template has more than ${LONGEST_SOURCE} characters.` };
  }
  try {
    const labels = labelsValue(input);
    const value = float(input.value);
    const nodes = parseTemplate(source, { variables: ['labels', 'value'], isFunction });
    const fields = new Map<string, Value>([
      ['Labels', labels],
      ['Value', value],
    ]);
    return { ok: true, text: execute(nodes, { data: { kind: 'data', fields }, variables: { labels, value } }, LIMITS) };
  } catch (error) {
    if (!(error instanceof TemplateProblem)) throw error;
    return { ok: false, text: source, problem: error.message };
  }
}

function labelsValue({ labels, labelCounts }: TemplateInput): MapValue {
  const entries = new Map(Object.entries(labels).map(([name, content]): [string, Value] => [name, text(content)]));
  if (labelCounts === undefined) return { kind: 'map', entries };
  const counts = Object.entries(labelCounts).map(([name, count]): [string, Value] => [name, text(String(count))]);
  return { kind: 'map', entries, shown: new Map(counts) };
}
