/** Reads protobuf messages of unknown senders: bounded by their own length, unknown fields skipped. */
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { Breather } from '../breather.ts';
import { UndecodableMetrics } from '../incoming.ts';

type Field = (reader: BinaryReader, end: number) => void;

/** What to do with each field that is known, by its number and wire type. */
export type Fields = Readonly<Record<number, readonly [WireType, Field]>>;

/** Reads the message that ends at `end`. @throws UndecodableMetrics */
export function readFields(reader: BinaryReader, end: number, fields: Fields): void {
  while (reader.pos < end) readField(reader, end, fields);
  requireEnd(reader, end);
}

function readField(reader: BinaryReader, end: number, fields: Fields): void {
  const [number, wireType] = reader.tag();
  const field = fields[number];
  if (field !== undefined && field[0] === wireType) field[1](reader, end);
  else reader.skip(wireType, number);
}

function requireEnd(reader: BinaryReader, end: number): void {
  if (reader.pos !== end) throw new UndecodableMetrics('A field of the protobuf body is longer than its message.');
}

/** A field that is a message of its own. */
export function message(read: (reader: BinaryReader, end: number) => void): readonly [WireType, Field] {
  return [
    WireType.LengthDelimited,
    (reader, outer) => {
      const end = reader.uint32() + reader.pos;
      if (end > outer) throw new UndecodableMetrics('The protobuf body ends in the middle of a message.');
      read(reader, end);
    },
  ];
}

/** A text that is put into `target`. */
export function textInto<K extends string>(target: Record<K, string>, key: K): readonly [WireType, Field] {
  return [
    WireType.LengthDelimited,
    (reader) => {
      target[key] = reader.string();
    },
  ];
}

/** A number of up to 32 bits that is put into `target`. */
export function integerInto<K extends string>(target: Record<K, number>, key: K): readonly [WireType, Field] {
  return [
    WireType.Varint,
    (reader) => {
      target[key] = reader.uint32();
    },
  ];
}

/** Reads a whole body, with pauses between its fields. @throws UndecodableMetrics whatever is wrong with it */
export async function readBody(bytes: Uint8Array, name: string, fields: Fields): Promise<void> {
  const breather = new Breather();
  const reader = new BinaryReader(bytes);
  try {
    while (reader.pos < bytes.length) {
      readField(reader, bytes.length, fields);
      await breather.pause();
    }
    requireEnd(reader, bytes.length);
  } catch (error) {
    if (error instanceof UndecodableMetrics) throw error;
    throw new UndecodableMetrics(`The body is not a ${name} in protobuf.`, error);
  }
}

/** A 64-bit integer as a number; beyond 2^53 it is none that has a meaning here. */
export function toNumber(value: bigint | string): number {
  return Number(value);
}
