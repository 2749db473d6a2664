/** Writes rows in ClickHouse's RowBinary format. */

export class RowWriter {
  #buffer = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  text(value: string): void {
    const size = Buffer.byteLength(value);
    this.#room(size + 5);
    this.varint(size);
    this.#length += this.#buffer.write(value, this.#length);
  }

  /** The bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  varint(value: number): void {
    this.#room(5);
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#buffer[this.#length++] = rest;
  }

  uint8(value: number): void {
    this.#room(1);
    this.#buffer[this.#length++] = value;
  }

  uint16(value: number): void {
    this.#room(2);
    this.#length = this.#buffer.writeUInt16LE(value, this.#length);
  }

  /** A safe integer as Int64 or UInt64. */
  int64(value: number): void {
    this.#room(8);
    this.#length = this.#buffer.writeBigInt64LE(BigInt(value), this.#length);
  }

  float64(value: number): void {
    this.#room(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
  }

  #room(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const bigger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#buffer.length));
    this.#buffer.copy(bigger, 0, 0, this.#length);
    this.#buffer = bigger;
  }
}
