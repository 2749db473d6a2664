/** Collects the values of a statement, so that none of them ever stands in its text. */

export class Parameters {
  readonly values: Record<string, unknown> = {};
  readonly #prefix: string;
  #count = 0;

  /** @param prefix of the placeholders' names, for statements that are put together */
  constructor(prefix = 'p') {
    this.#prefix = prefix;
  }

  /** Adds a value and gives its placeholder. */
  add(value: unknown, type: 'String' | 'Float64' | 'Int64' | 'UInt64' | 'Array(String)'): string {
    const name = `${this.#prefix}${this.#count}`;
    this.#count += 1;
    this.values[name] = value;
    return `{${name}:${type}}`;
  }

  text(value: string): string {
    return this.add(value, 'String');
  }

  number(value: number): string {
    return this.add(value, 'Float64');
  }

  /** @param value of 64 bits */
  whole(value: bigint): string {
    return this.add(String(value), 'Int64');
  }
}
