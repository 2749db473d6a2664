/** Where something stands in the user's files, as the JSON events say it. */
import type { Source } from '@obsiac/model';

/** Lines and columns count from 1; the end is exclusive. */
export function rangeJson(source: Source) {
  return {
    filename: source.file,
    start: { line: source.line, column: source.column },
    end: { line: source.endLine, column: source.endColumn },
  };
}
