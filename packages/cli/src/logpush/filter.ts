/** Checks the match filter of a job against what Cloudflare documents: shape, operators, types of known fields, size. */
import { DATASETS, type DatasetField, didYouMean } from '@obsiac/model';

/** Documented for Logpush filters. */
const MOST_BYTES = 1000;
const MOST_OPERATORS = 30;
const MOST_DEPTH = 30;

const EQUALITY = ['eq', '!eq'];
const ORDER = ['lt', 'leq', 'gt', 'geq'];
const SET = ['in', '!in'];
const CONTAINS = ['contains', '!contains'];
const TEXT = ['startsWith', 'endsWith', '!startsWith', '!endsWith', ...CONTAINS];
const OPERATORS = [...EQUALITY, ...ORDER, ...SET, ...TEXT];

/** Fields of firewall_events that cannot be filtered on, though their type could. */
const CLOSED: Readonly<Record<string, readonly string[]>> = {
  firewall_events: ['Action', 'Kind', 'MatchIndex', 'Metadata', 'OriginatorRayID', 'RuleID', 'Source'],
};

interface Kind {
  readonly operators: readonly string[];
  readonly takes: (value: unknown) => boolean;
  readonly words: string;
}

const isText = (value: unknown) => typeof value === 'string';
const isWhole = (value: unknown) => typeof value === 'number' && Number.isInteger(value);

const KINDS: Readonly<Record<string, Kind>> = {
  string: { operators: [...EQUALITY, ...SET, ...TEXT], takes: isText, words: 'a text' },
  int: { operators: [...EQUALITY, ...ORDER, ...SET], takes: isWhole, words: 'a whole number' },
  float: { operators: [...EQUALITY, ...ORDER, ...SET], takes: (value) => typeof value === 'number', words: 'a number' },
  bool: { operators: EQUALITY, takes: (value) => typeof value === 'boolean', words: 'true or false' },
  'array[string]': { operators: CONTAINS, takes: isText, words: 'a text' },
  'int or string': {
    operators: [...EQUALITY, ...ORDER, ...SET, ...TEXT],
    takes: (value) => isText(value) || isWhole(value),
    words: 'a whole number or a text',
  },
};

export interface FilterFindings {
  /** Sentences; with any of them the filter cannot be used. */
  readonly problems: readonly string[];
  /** Sentences on what may be right although it is not known here. */
  readonly doubts: readonly string[];
}

/** Checks the JSON text of a filter for a job of `dataset`; fields of datasets that are not known are not checked. */
export function checkFilter(text: string, dataset: string): FilterFindings {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    return { problems: [`It is not JSON: ${(error as Error).message}.`], doubts: [] };
  }
  const checker = new Checker(dataset);
  const size = Buffer.byteLength(text);
  if (size > MOST_BYTES) {
    checker.problems.push(`It has ${size} bytes; Cloudflare takes ${MOST_BYTES} at most.`);
  }
  if (!isObject(document) || !('where' in document) || Object.keys(document).length !== 1) {
    checker.problems.push('It is an object with the one member "where".');
  } else {
    checker.node(document['where'], 'where', 0);
  }
  if (checker.operators > MOST_OPERATORS) {
    checker.problems.push(`It has ${checker.operators} operators; Cloudflare takes about ${MOST_OPERATORS}.`);
  }
  return checker;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

class Checker {
  readonly problems: string[] = [];
  readonly doubts: string[] = [];
  operators = 0;
  readonly #dataset: string;
  readonly #fields: Readonly<Record<string, DatasetField>> | undefined;

  constructor(dataset: string) {
    this.#dataset = dataset;
    this.#fields = DATASETS[dataset]?.fields;
  }

  node(node: unknown, at: string, depth: number): void {
    if (depth > MOST_DEPTH) {
      this.problems.push('It nests too deep.');
      return;
    }
    if (!isObject(node)) {
      this.problems.push(`${at}: here stands {"key", "operator", "value"}, {"and": [...]} or {"or": [...]}.`);
      return;
    }
    const joiner = ['and', 'or'].find((word) => word in node);
    if (joiner === undefined) {
      this.#condition(node, at);
      return;
    }
    const items = node[joiner];
    if (Object.keys(node).length !== 1 || !Array.isArray(items) || items.length === 0) {
      this.problems.push(`${at}: "${joiner}" stands alone and holds a list with at least one condition.`);
      return;
    }
    this.operators += 1;
    items.forEach((item: unknown, index) => {
      this.node(item, `${at}.${joiner}[${index}]`, depth + 1);
    });
  }

  #condition(node: Readonly<Record<string, unknown>>, at: string): void {
    this.operators += 1;
    const extra = Object.keys(node).find((member) => !['key', 'operator', 'value'].includes(member));
    if (extra !== undefined) this.problems.push(`${at}: a condition has no "${extra}".`);
    const { key, operator, value } = node;
    if (typeof key !== 'string' || key === '') {
      this.problems.push(`${at}: "key" is missing, the name of a field.`);
    } else if (typeof operator !== 'string' || !OPERATORS.includes(operator)) {
      const near = typeof operator === 'string' ? didYouMean(operator, OPERATORS) : '';
      this.problems.push(`${at}: "operator" is one of ${OPERATORS.join(', ')}.${near}`);
    } else if (!('value' in node)) {
      this.problems.push(`${at}: "value" is missing.`);
    } else {
      this.#comparison(key, operator, value, at);
    }
  }

  #comparison(key: string, operator: string, value: unknown, at: string): void {
    const isSet = SET.includes(operator);
    if (isSet && (!Array.isArray(value) || value.length === 0)) {
      this.problems.push(`${at}: "${operator}" takes a list of values.`);
      return;
    }
    if (!isSet && typeof value === 'object') {
      this.problems.push(`${at}: "${operator}" takes one plain value.`);
      return;
    }
    const field = this.#fields && (Object.hasOwn(this.#fields, key) ? this.#fields[key] : undefined);
    if (field === undefined) {
      if (this.#fields !== undefined) {
        this.doubts.push(
          `${at}: ${this.#dataset} has no field ${key} that is known here.${didYouMean(key, Object.keys(this.#fields))}`,
        );
      }
      return;
    }
    const kind = Object.hasOwn(KINDS, field.type) ? KINDS[field.type] : undefined;
    if (kind === undefined || CLOSED[this.#dataset]?.includes(key)) {
      this.problems.push(`${at}: Cloudflare cannot filter on ${key}${kind === undefined ? ` (${field.type})` : ''}.`);
    } else if (!kind.operators.includes(operator)) {
      this.problems.push(`${at}: ${key} is ${field.type} and takes ${kind.operators.join(', ')}, not ${operator}.`);
    } else if (!(isSet ? (value as unknown[]) : [value]).every(kind.takes)) {
      this.problems.push(`${at}: ${key} is ${field.type} and is compared with ${kind.words}.`);
    }
  }
}
