/**
 * Every problem that a model or config file can have: its stable code, how bad it is, the constant headline,
 * and one sentence on what it means. The reference page of the documentation is made from this list.
 */
import type { Diagnostic, DiagnosticSeverity, Source } from '../diagnostic.ts';

interface CodeEntry {
  readonly severity: DiagnosticSeverity;
  /** Short and constant: the `summary` of each diagnostic with this code. */
  readonly summary: string;
  /** One sentence for the reference page. */
  readonly meaning: string;
}

const error = (summary: string, meaning: string): CodeEntry => ({ severity: 'error', summary, meaning });
const warning = (summary: string, meaning: string): CodeEntry => ({ severity: 'warning', summary, meaning });

export const CODES = {
  'file/too-large': error('File is too large', 'A model file is larger than 10 MB, or has millions of values.'),
  'file/binary': error('File is not text', 'A file holds bytes that no text file holds, so it is not YAML.'),
  'file/encoding': error('File is not UTF-8', 'A file is text in another encoding than UTF-8.'),
  'file/empty': error('File is empty', 'A model file holds nothing, or comments only.'),

  'yaml/syntax': error('Invalid YAML', 'The text breaks the rules of YAML, so its structure cannot be known.'),
  'yaml/indentation': error('Wrong indentation', 'A line stands further left or right than YAML allows there.'),
  'yaml/tab': error('Tab used for indentation', 'YAML indents with spaces; a tab stands where indentation is counted.'),
  'yaml/quotes': error(
    'Unclosed quote or bad escape',
    'A quoted text is not closed, or has an escape that does not exist.',
  ),
  'yaml/duplicate-key': error(
    'Duplicate key',
    'The same key stands twice in one mapping, so one of the values would be lost.',
  ),
  'yaml/key': error('Unusable key', 'A key is empty, is itself a list or mapping, or is a reserved word.'),
  'yaml/tag': error('Unknown YAML tag', 'A value carries a YAML tag that means nothing in a model.'),
  'yaml/alias': error(
    'Unusable alias',
    'An alias names an anchor that is not defined before it, or that contains the alias.',
  ),
  'yaml/alias-expansion': error(
    'Aliases expand too far',
    'Aliases of aliases multiply to more values than any real model has.',
  ),
  'yaml/merge': error('Unusable merge key', 'The value of `<<` is neither a mapping nor a list of mappings.'),
  'yaml/nesting': error('Nested too deep', 'Lists or mappings stand inside each other deeper than the parser goes.'),
  'yaml/multiple-documents': error(
    'More than one YAML document',
    'A file has more than one YAML document; a model file has one.',
  ),

  'model/root': error('Not a model', 'The top level of the file is not a mapping with the key `entities`.'),
  'model/too-many-problems': error(
    'Too many problems',
    'The check stopped before the end, since so many errors were found.',
  ),
  'model/too-many-warnings': warning('Too many warnings', 'A file has more warnings than are shown.'),

  'field/unknown': error('Unknown field', 'A field has a name that the schema does not have.'),
  'field/required': error('Missing field', 'A field that is required is not there or has no value.'),
  'field/type': error('Wrong type', 'A field has a value of another type, for example a text where a number belongs.'),
  'field/value': error('Value is not allowed', 'A field has a value that is not one of those the field can take.'),
  'field/format': error(
    'Wrong format',
    'A text is blank, has spaces around it, or is not of the form that the field needs.',
  ),
  'field/characters': error(
    'Unusable characters',
    'A text holds control characters or half a character, which cannot be stored or shown.',
  ),

  'entity/external-ref': error(
    'Invalid external_ref',
    'An `external_ref` is not a slug: lower-case letters, digits, hyphens and underscores.',
  ),
  'entity/external-ref-duplicate': error(
    'Duplicate external_ref',
    'Two alert managers of the model have the same `external_ref`.',
  ),
  'entity/data-source': warning(
    'Data source given twice',
    'An alert manager has both `data_source` and `data_source_id`; the id decides.',
  ),

  'entity/adhoc-filter': error(
    'Invalid adhoc_filter',
    'A label of `adhoc_filter` cannot be added to the selectors of the queries.',
  ),

  'indicator/name-duplicate': error('Duplicate indicator', 'Two indicators of one alert manager have the same name.'),

  'query/invalid': error('Invalid PromQL', 'The query of an indicator has a syntax or type error.'),
  'query/result': error(
    'Query gives no series',
    'The query of an indicator gives a scalar, a text or a range of samples, which no rule can watch.',
  ),
  'query/victoriametrics': warning(
    'Query for VictoriaMetrics only',
    'The query of an indicator has something that Prometheus refuses.',
  ),
  'query/notice': warning('Query looks wrong', 'The query of an indicator is valid, but will fail or give nothing.'),
  'query/short-range': warning(
    'Window too short',
    'A function such as `rate` looks at less than two minutes, which may hold one sample only.',
  ),
  'query/comparison': warning(
    'Comparison drops good minutes',
    'The query of an indicator compares, so that good minutes are missing instead of good.',
  ),
  'query/unfiltered': error(
    'Filter does not reach the query',
    'A part of the query that only VictoriaMetrics understands hides selectors from `adhoc_filter`.',
  ),

  'rule/name-duplicate': error('Duplicate rule', 'Two alert rules of one alert manager have the same name.'),
  'rule/name-shared': warning(
    'Rule name used elsewhere',
    'Alert managers share a rule name, so that notifications are hard to tell apart.',
  ),
  'rule/description-duplicate': error(
    'Duplicate description',
    'Two alert rules of one alert manager have the same description.',
  ),
  'rule/indicator': error(
    'Unknown indicator',
    'An alert rule refers to an indicator that its alert manager does not have.',
  ),
  'rule/threshold': error('Not exactly one threshold', 'A static alert rule has no threshold, or a rule has several.'),
  'rule/window': error(
    'Invalid window',
    '`bad_minutes` and `total_minutes` do not satisfy 1 <= bad_minutes <= total_minutes <= 1440.',
  ),
  'rule/window-long': warning('Long window', '`total_minutes` is above 60, where the hosted service stops.'),
  'rule/expression': error('Invalid expression', 'An `expression` is not of the form `macro(tolerance, indicator)`.'),
  'rule/macro': error('Unknown macro', 'An `expression` calls a macro that does not exist.'),
  'rule/tolerance': error('Invalid tolerance', 'The tolerance of a macro is not a number from 0 to 10.'),
  'rule/expression-indicator': error(
    'Expression on another indicator',
    'The macro of an `expression` and the rule name different or unknown indicators.',
  ),
  'rule/pattern-window': warning(
    'Pattern can hardly fire',
    'A pattern rule asks for more bad minutes than the pattern normally lasts.',
  ),
  'rule/label-filter': error(
    'Unbound variable',
    'The indicator query has a variable that the rule does not give a value.',
  ),
  'rule/label-filter-unused': warning(
    'Unused variable',
    'A `label_filter` gives a value to a variable that the indicator query does not have.',
  ),

  'rule/label-filter-value': error(
    'Value breaks the query',
    'With a value of `label_filter`, the indicator query is no longer valid.',
  ),
  'rule/one-series': warning(
    'One series for all',
    'A rule notifies for each series, but its query adds all series up to one.',
  ),
  'rule/lookback': warning(
    'Last value lingers',
    'A rule with few bad minutes watches a bare selector, whose last value outlives its series.',
  ),

  'channel/mention': error('Mention without Slack', 'A channel that is not of type Slack has `mention`.'),
  'channel/duplicate': error('Duplicate channel', 'A channel is attached twice for the same severity.'),

  'moved/address': error(
    'Invalid address',
    'An address in `moved` is not that of an alert manager, an indicator or an alert rule.',
  ),
  'moved/kind': error('Different kinds', 'A `moved` entry turns an object of one kind into one of another.'),
  'moved/across': error(
    'Moved between alert managers',
    'A `moved` entry takes an indicator or rule from one alert manager to another.',
  ),
  'moved/to': error('Nothing at the new address', 'The model has no object at the address `to` of a `moved` entry.'),
  'moved/from': error(
    'Old address still in use',
    'The model still has an object at the address `from` of a `moved` entry.',
  ),
  'moved/duplicate': error('Moved twice', 'Two `moved` entries have the same `from` or the same `to`.'),
  'moved/chain': error('Chained moves', 'The `to` of one `moved` entry is the `from` of another, or of itself.'),

  'config/syntax': error('Invalid JSON', 'The config file is not valid JSON.'),
  'config/environment': error(
    'Environment variable is not set',
    'The config file names an environment variable that is not set.',
  ),
  'config/token': error('Unusable token', 'A refresh token is empty or has characters that no token has.'),
  'config/org': error('Invalid organization slug', 'The `org` is not a slug as it stands in the dashboard address.'),
  'config/base-url': error(
    'Invalid API address',
    'The `api_base_url` is not an http or https address without query and fragment.',
  ),
  'config/base-url-path': warning(
    'Unusual API address',
    'The path of `api_base_url` does not end with /api/v4, where the API is.',
  ),
  'config/mismatch': error(
    'Actions differ',
    'The three actions of `api_config` name different organizations or API addresses.',
  ),
  'config/state-path': error(
    'State lock file in the wrong place',
    'The `state_lock_file_path` does not lie in the directory of the model and config.',
  ),
} as const satisfies Record<string, CodeEntry>;

export type Code = keyof typeof CODES;

/** Builds the diagnostic for a code; `detail` says in full sentences what is wrong, why, and what to do. */
export function problem(code: Code, detail: string, source?: Source): Diagnostic {
  const { severity, summary } = CODES[code];
  return { severity, code, summary, detail, ...(source && { source }) };
}
