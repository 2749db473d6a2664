/** Decodes an OTLP request and writes its records as rows of the log store. */
import { gzipSync } from 'node:zlib';
import { otlpRow } from '../normalise/otlp.ts';
import { decodeLogsRequestJson } from './json.ts';
import { decodeLogsRequest } from './protobuf.ts';
import { OtlpDecodeError } from './record.ts';

export type OtlpEncoding = 'protobuf' | 'json';

export interface ConvertedRequest {
  /** Gzip of `RecordRow` lines. */
  readonly body: Buffer;
  readonly records: number;
  /** Records whose row is longer than a line may be. */
  readonly rejected: number;
  readonly plainBytes: number;
}

export interface ConvertMessage {
  readonly bytes: Uint8Array;
  readonly encoding: OtlpEncoding;
  readonly receivedAt: string;
  readonly lineLimit: number;
}

export type ConvertReply =
  | { readonly ok: true; readonly result: Omit<ConvertedRequest, 'body'> & { readonly body: Uint8Array } }
  | { readonly ok: false; readonly undecodable: boolean; readonly message: string };

/** @throws OtlpDecodeError */
export function convert({ bytes, encoding, receivedAt, lineLimit }: ConvertMessage): ConvertedRequest {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const decoded = encoding === 'json' ? decodeLogsRequestJson(buffer.toString('utf8')) : decodeLogsRequest(buffer);
  const rows: string[] = [];
  let rejected = 0;
  for (const record of decoded) {
    const row = JSON.stringify(rowOf(record, receivedAt));
    if (row.length > lineLimit) rejected += 1;
    else rows.push(row, '\n');
  }
  const plain = Buffer.from(rows.join(''));
  return { body: gzipSync(plain, { level: 1 }), records: rows.length / 2, rejected, plainBytes: plain.length };
}

function rowOf(record: Parameters<typeof otlpRow>[0], receivedAt: string) {
  try {
    return otlpRow(record, receivedAt);
  } catch (error) {
    if (error instanceof RangeError) throw new OtlpDecodeError('A record nests too deep.', error);
    throw error;
  }
}
