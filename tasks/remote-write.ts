/**
 * Encodes samples as Prometheus remote write 1.0 requests: the protobuf message `prometheus.WriteRequest` inside
 * snappy's block format. Written by hand, since the message has five fields and snappy allows literals only.
 */

/** One series to write. The three lists are parallel. */
export interface WrittenSeries {
  /** With `__name__`. */
  readonly labels: Readonly<Record<string, string>>;
  /** Milliseconds since 1970, rising. */
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  /** 1 where the sample is a staleness marker; its value is not looked at. */
  readonly stale?: ArrayLike<number> | undefined;
}

const SAMPLES_PER_REQUEST = 50_000;
/** The bits of Prometheus' staleness marker, a NaN with a payload, little-endian. */
const STALE = Uint8Array.of(2, 0, 0, 0, 0, 0, 0xf0, 0x7f);

/** Request bodies in the order they must be sent: each covers a stretch of time over all series. */
export function* remoteWriteBodies(series: readonly WrittenSeries[]): Generator<Uint8Array<ArrayBuffer>> {
  const total = series.reduce((sum, each) => sum + each.times.length, 0);
  if (total === 0) return;
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const { times } of series) {
    if (times.length === 0) continue;
    first = Math.min(first, times[0]!);
    last = Math.max(last, times[times.length - 1]!);
  }
  const stretch = Math.ceil((last - first + 1) / Math.ceil(total / SAMPLES_PER_REQUEST));
  const next = new Int32Array(series.length);
  for (let until = first + stretch; until < last + 1 + stretch; until += stretch) {
    const out = new Writer();
    series.forEach((each, index) => {
      const from = next[index]!;
      let to = from;
      while (to < each.times.length && each.times[to]! < until) to++;
      next[index] = to;
      if (to > from) out.message(1, () => timeSeries(out, each, from, to));
    });
    if (out.length > 0) yield snappyLiterals(out.bytes());
  }
}

function timeSeries(out: Writer, series: WrittenSeries, from: number, to: number): void {
  const names = Object.keys(series.labels).sort();
  for (const name of names) {
    out.message(1, () => {
      out.text(1, name);
      out.text(2, series.labels[name] ?? '');
    });
  }
  for (let i = from; i < to; i++) {
    out.sample(series.stale?.[i] ? undefined : series.values[i]!, series.times[i]!);
  }
}

/** A protobuf writer over a buffer that grows. */
class Writer {
  #buffer = new Uint8Array(1 << 16);
  #view = new DataView(this.#buffer.buffer);
  length = 0;

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  /** A nested message. Its length goes in front, so the body is written first and moved up by the length's size. */
  message(field: number, body: () => void): void {
    this.#room(8);
    this.#varint((field << 3) | 2);
    const start = this.length;
    this.length += 1;
    body();
    const size = this.length - start - 1;
    let width = 1;
    for (let rest = size; rest >= 0x80; rest = Math.floor(rest / 0x80)) width++;
    if (width > 1) {
      this.#room(width);
      this.#buffer.copyWithin(start + width, start + 1, this.length);
    }
    this.length = start;
    this.#varint(size);
    this.length += size;
  }

  text(field: number, value: string): void {
    const encoded = new TextEncoder().encode(value);
    this.#room(encoded.length + 12);
    this.#varint((field << 3) | 2);
    this.#varint(encoded.length);
    this.#buffer.set(encoded, this.length);
    this.length += encoded.length;
  }

  /** Field 2 of a series: a sample with its value in field 1 (a staleness marker when undefined) and time in field 2. */
  sample(value: number | undefined, time: number): void {
    this.#room(24);
    this.#buffer[this.length] = (2 << 3) | 2;
    const start = this.length + 2;
    this.#buffer[start] = (1 << 3) | 1;
    if (value === undefined) this.#buffer.set(STALE, start + 1);
    else this.#view.setFloat64(start + 1, value, true);
    this.#buffer[start + 9] = 2 << 3;
    this.length = start + 10;
    if (time >= 0) this.#varint(time);
    else this.#negative(time);
    // A sample is shorter than 128 bytes, so its length takes one.
    this.#buffer[start - 1] = this.length - start;
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.length++] = rest;
  }

  /** Negative numbers are written as 64-bit two's complement: always ten bytes. */
  #negative(value: number): void {
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest >= 0x80n) {
      this.#buffer[this.length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#buffer[this.length++] = Number(rest);
  }

  #room(bytes: number): void {
    if (this.length + bytes <= this.#buffer.length) return;
    const bigger = new Uint8Array(Math.max(this.#buffer.length * 2, this.length + bytes));
    bigger.set(this.#buffer);
    this.#buffer = bigger;
    this.#view = new DataView(bigger.buffer);
  }
}

/** Snappy's block format, all literals: the plain length, then stretches of up to 65,536 bytes behind a tag. */
export function snappyLiterals(plain: Uint8Array): Uint8Array<ArrayBuffer> {
  const stretches = Math.ceil(plain.length / 65_536);
  const out = new Uint8Array(plain.length + stretches * 3 + 5);
  let at = 0;
  for (let rest = plain.length; ; rest = Math.floor(rest / 0x80)) {
    if (rest < 0x80) {
      out[at++] = rest;
      break;
    }
    out[at++] = (rest % 0x80) | 0x80;
  }
  for (let from = 0; from < plain.length; from += 65_536) {
    const stretch = plain.subarray(from, from + 65_536);
    // Tag 61: a literal whose length less one follows in two bytes.
    out[at++] = 61 << 2;
    out[at++] = (stretch.length - 1) & 0xff;
    out[at++] = (stretch.length - 1) >> 8;
    out.set(stretch, at);
    at += stretch.length;
  }
  return out.subarray(0, at);
}
