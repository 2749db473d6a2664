/** Carries a template out, within bounds: of its output, of its steps, of the texts it makes. */
import type { Command, Node, Operand, Pipeline } from './ast.ts';
import { callFunction } from './functions.ts';
import { int, isTrue, printed, sortedKeys, TemplateProblem, text, typeName, type Value } from './value.ts';

export interface Limits {
  /** UTF-16 units. */
  readonly output: number;
  /** A node, a word of a command and a turn of a loop are a step; so are 256 characters of an argument, or a fraction of one that a
   * regular expression goes through. */
  readonly steps: number;
}

export interface Root {
  readonly data: Value;
  /** By their names without the dollar sign. */
  readonly variables: Readonly<Record<string, Value>>;
}

/** @throws TemplateProblem */
export function execute(nodes: readonly Node[], root: Root, limits: Limits): string {
  const run = new Run(root, limits);
  run.list(nodes, root.data);
  return run.output();
}

const CHARACTERS_A_STEP = 256;

/** A regular expression may look at a character once for each of its states. */
const REGEX_FUNCTIONS: ReadonlySet<string> = new Set(['match', 'reReplaceAll']);
const REGEX_STEPS = 4;

interface Variable {
  readonly name: string;
  value: Value;
}

class Run {
  readonly #limits: Limits;
  readonly #out: string[] = [];
  readonly #variables: Variable[];
  #length = 0;
  #steps = 0;
  #line = 1;

  constructor(root: Root, limits: Limits) {
    this.#limits = limits;
    this.#variables = [{ name: '', value: root.data }];
    for (const [name, value] of Object.entries(root.variables)) this.#variables.push({ name, value });
  }

  output(): string {
    return this.#out.join('');
  }

  /** @returns how the list ended: through to its end, or at a `break` or `continue` */
  list(nodes: readonly Node[], dot: Value): 'end' | 'break' | 'continue' {
    for (const node of nodes) {
      this.#step();
      const ended = this.#node(node, dot);
      if (ended !== 'end') return ended;
    }
    return 'end';
  }

  #node(node: Node, dot: Value): 'end' | 'break' | 'continue' {
    switch (node.kind) {
      case 'text':
        this.#write(node.content);
        return 'end';
      case 'break':
      case 'continue':
        return node.kind;
      case 'print': {
        this.#line = node.line;
        const value = this.#pipeline(node.pipeline, dot);
        if (node.pipeline.variables.length === 0) this.#write(printed(value));
        return 'end';
      }
      default:
        return this.#block(node, dot);
    }
  }

  #block(node: Extract<Node, { kind: 'if' | 'with' | 'range' }>, dot: Value): 'end' | 'break' | 'continue' {
    this.#line = node.line;
    const known = this.#variables.length;
    try {
      const value = this.#pipeline(node.pipeline, dot, node.kind === 'range');
      if (node.kind === 'range') return this.#range(node, value, dot);
      if (!isTrue(value)) return this.list(node.otherwise, dot);
      return this.list(node.body, node.kind === 'with' ? value : dot);
    } finally {
      this.#variables.length = known;
    }
  }

  #range(node: Extract<Node, { kind: 'range' }>, value: Value, dot: Value): 'end' | 'break' | 'continue' {
    const { variables, assigns } = node.pipeline;
    const known = this.#variables.length;
    let any = false;
    for (const [key, element] of this.#elements(value)) {
      any = true;
      this.#step();
      const values = variables.length === 2 ? [key, element] : [element];
      variables.forEach((name, index) => {
        if (assigns) this.#assign(name, values[index]!);
        else this.#variables.push({ name, value: values[index]! });
      });
      const ended = this.list(node.body, element);
      this.#variables.length = known;
      if (ended === 'break') break;
    }
    return any ? 'end' : this.list(node.otherwise, dot);
  }

  *#elements(value: Value): Generator<[Value, Value]> {
    if (value.kind === 'map') {
      for (const key of sortedKeys(value.entries)) yield [text(key), value.entries.get(key)!];
    } else if (value.kind === 'int') {
      for (let index = 0n; index < value.integer; index++) yield [int(index), int(index)];
    } else if (value.kind !== 'nil') {
      throw this.#problem(`range cannot go through ${typeName(value)}`);
    }
  }

  #pipeline(pipeline: Pipeline, dot: Value, isRange = false): Value {
    let value: Value | undefined;
    for (const command of pipeline.commands) value = this.#command(command, dot, value);
    // A range gives its variables the elements.
    if (isRange) return value!;
    for (const name of pipeline.variables) {
      if (pipeline.assigns) this.#assign(name, value!);
      else this.#variables.push({ name, value: value! });
    }
    return value!;
  }

  #command({ words }: Command, dot: Value, piped: Value | undefined): Value {
    const [first, ...rest] = words;
    if (first.kind === 'function') return this.#call(first.name, rest, dot, piped);
    if (rest.length > 0 || piped !== undefined) throw this.#problem('only a function takes arguments');
    return this.#operand(first, dot);
  }

  #operand(operand: Operand, dot: Value): Value {
    this.#step();
    switch (operand.kind) {
      case 'value':
        return operand.value;
      case 'dot':
        return this.#fields(dot, operand.fields);
      case 'variable':
        return this.#fields(this.#variable(operand.name).value, operand.fields);
      case 'function':
        return this.#call(operand.name, [], dot, undefined);
      case 'group':
        return this.#fields(this.#pipeline(operand.pipeline, dot), operand.fields);
    }
  }

  #call(name: string, operands: readonly Operand[], dot: Value, piped: Value | undefined): Value {
    this.#step();
    const args: Value[] = [];
    const decides = name === 'and' ? (value: Value) => !isTrue(value) : name === 'or' ? isTrue : () => false;
    for (const operand of operands) {
      const value = this.#operand(operand, dot);
      args.push(value);
      // What comes after the argument that decides is not looked at.
      if (decides(value)) return value;
    }
    if (piped !== undefined) args.push(piped);
    const weight = REGEX_FUNCTIONS.has(name) ? REGEX_STEPS : 1 / CHARACTERS_A_STEP;
    for (const value of args) if (value.kind === 'string') this.#step(value.text.length * weight);
    const result = this.#guarded(() => callFunction(name, args, this.#limits.output));
    if (result.kind === 'string' && result.text.length > this.#limits.output) throw this.#tooLong();
    return result;
  }

  #guarded(call: () => Value): Value {
    try {
      return call();
    } catch (error) {
      if (error instanceof TemplateProblem) throw this.#problem(error.message);
      throw error;
    }
  }

  #fields(value: Value, names: readonly string[]): Value {
    return names.reduce((from, name) => this.#field(from, name), value);
  }

  #field(value: Value, name: string): Value {
    if (value.kind === 'map') return value.entries.get(name) ?? text('');
    const field = value.kind === 'data' ? value.fields.get(name) : undefined;
    if (field !== undefined) return field;
    if (value.kind !== 'data') throw this.#problem(`${typeName(value)} has no field ${name}`);
    const known = [...value.fields.keys()].map((each) => `.${each}`).join(' and ');
    throw this.#problem(`there is no .${name}, only ${known}`);
  }

  #variable(name: string): Variable {
    const variable = this.#variables.findLast((each) => each.name === name);
    if (variable === undefined) throw this.#problem(`there is no variable $${name}`);
    return variable;
  }

  #assign(name: string, value: Value): void {
    this.#variable(name).value = value;
  }

  #write(content: string): void {
    this.#length += content.length;
    if (this.#length > this.#limits.output) throw this.#tooLong();
    this.#out.push(content);
  }

  #step(count = 1): void {
    this.#steps += count;
    if (this.#steps > this.#limits.steps) throw this.#problem(`it takes more than ${this.#limits.steps} steps`);
  }

  #tooLong(): TemplateProblem {
    return this.#problem(`it gives more than ${this.#limits.output} characters`);
  }

  #problem(message: string): TemplateProblem {
    return new TemplateProblem(`Line ${this.#line}: ${message.replace(/\.$/, '')}.`);
  }
}
