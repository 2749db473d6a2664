/** Reads rows in ClickHouse's RowBinary format. */

export class RowReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    return this.#take(this.varint()).toString('utf8');
  }

  texts(): string[] {
    return Array.from({ length: this.varint() }, () => this.text());
  }

  /** Bytes as a key of a map. */
  key(size: number): string {
    return this.#take(size).toString('latin1');
  }

  /** An array of Int64 or UInt64. */
  integers(): Float64Array {
    const out = new Float64Array(this.varint());
    for (let index = 0; index < out.length; index += 1) {
      // Two halves: safe integers need no BigInt, which would cost an object each.
      const low = this.#bytes.readUInt32LE(this.#at);
      out[index] = this.#bytes.readInt32LE(this.#at + 4) * 0x1_0000_0000 + low;
      this.#at += 8;
    }
    return out;
  }

  /** An array of UInt32. */
  smallIntegers(): Float64Array {
    const out = new Float64Array(this.varint());
    for (let index = 0; index < out.length; index += 1) {
      out[index] = this.#bytes.readUInt32LE(this.#at);
      this.#at += 4;
    }
    return out;
  }

  doubles(): Float64Array {
    const out = new Float64Array(this.varint());
    const size = out.length * 8;
    // Copied as bytes: an array of doubles cannot begin at any place of a buffer. All platforms of the engine are little-endian.
    this.#bytes.copy(new Uint8Array(out.buffer), 0, this.#at, this.#at + size);
    this.#at += size;
    return out;
  }

  flags(): Uint8Array {
    return new Uint8Array(this.#take(this.varint()));
  }

  #take(size: number): Buffer {
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}
