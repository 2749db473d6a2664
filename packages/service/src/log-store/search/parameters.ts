/** Collects the values of a statement, so that none of them ever stands in its text. */

export class Parameters {
  readonly values: Record<string, unknown> = {};
  #count = 0;

  /** Adds a value and gives its placeholder. */
  add(value: unknown, type: 'String' | 'Float64' | 'Int64' | 'UInt64' | 'Array(String)'): string {
    const name = `p${this.#count}`;
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
}
