/** Cuts answers to the number of series that a client wants, and words annotations as Prometheus does. */
import { type Annotation, type ApiData, lineColumn } from '@obsiac/promql';

type Told = Pick<Annotation, 'level' | 'message'>;

const TRUNCATED: Told = { level: 'warning', message: 'results truncated due to limit' };

/** @param limit 0: none */
export function truncated(data: ApiData, limit: number, annotations: readonly Told[]): [ApiData, readonly Told[]] {
  if (limit === 0 || data.resultType === 'scalar' || data.resultType === 'string') return [data, annotations];
  if (data.result.length <= limit) return [data, annotations];
  return [{ ...data, result: data.result.slice(0, limit) } as ApiData, [...annotations, TRUNCATED]];
}

/** A list cut to a limit. @param limit 0: none */
export function cut<T>(items: readonly T[], limit: number): [readonly T[], readonly Told[]] {
  return limit === 0 || items.length <= limit ? [items, []] : [items.slice(0, limit), [TRUNCATED]];
}

/** With the place in the query behind each message: `(1:6)`. */
export function annotated(query: string, annotations: readonly Annotation[]): Told[] {
  return annotations.map(({ level, message, span }) => {
    const { line, column } = lineColumn(query, span.from);
    return { level, message: `${message} (${line}:${column})` };
  });
}
