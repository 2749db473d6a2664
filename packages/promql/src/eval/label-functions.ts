/** label_replace and label_join: new labels from old ones. */
import { labelValue, withLabels } from '../series/labels.ts';
import type { Call } from '../syntax/ast.ts';
import { compileRegex } from '../syntax/regex.ts';
import { type Column, refuseEqual, relabelled } from './columns.ts';
import { QueryError } from './errors.ts';

function checkName(name: string, call: Call): void {
  if (name === '') throw new QueryError('bad_label', `The label name that ${call.func} shall set is empty.`, call.span);
}

/** `label_replace(v, target, replacement, source, regex)`: sets a label where the regex takes the whole source value. */
export function labelReplace(call: Call, columns: readonly Column[], texts: readonly string[]): readonly Column[] {
  const [target = '', replacement = '', source = '', pattern = ''] = texts;
  const compiled = compileRegex(pattern);
  if (!compiled.ok) {
    const message = `The regular expression ${JSON.stringify(pattern)} is invalid: ${compiled.message}.`;
    throw new QueryError('bad_regex', message, call.span);
  }
  checkName(target, call);
  const replaced = columns.map((column) => {
    const value = compiled.regex.expand(labelValue(column.labels, source), replacement);
    return value === undefined ? column : relabelled(column, withLabels(column.labels, [[target, value]]));
  });
  return refuseEqual(replaced, call.span);
}

/** `label_join(v, target, separator, sources…)`: sets a label to the values of others, joined. */
export function labelJoin(call: Call, columns: readonly Column[], texts: readonly string[]): readonly Column[] {
  const [target = '', separator = '', ...sources] = texts;
  checkName(target, call);
  const joined = columns.map((column) => {
    const value = sources.map((source) => labelValue(column.labels, source)).join(separator);
    return relabelled(column, withLabels(column.labels, [[target, value]]));
  });
  return refuseEqual(joined, call.span);
}
