/** From the bytes of an OTLP request to rows of the log store; big requests are taken apart on a thread of their own. */
import { Worker } from 'node:worker_threads';
import {
  type ConvertedRequest,
  type ConvertMessage,
  type ConvertReply,
  convert,
  type OtlpEncoding,
} from './convert-request.ts';
import { OtlpDecodeError } from './record.ts';

/** Smaller ones take less time than a thread's start would. */
const SMALL_BYTES = 256 * 1024;

/** @throws OtlpDecodeError */
export async function convertOtlp(
  bytes: Buffer,
  encoding: OtlpEncoding,
  receivedAt: string,
  lineLimit: number,
): Promise<ConvertedRequest> {
  const message: ConvertMessage = { bytes, encoding, receivedAt, lineLimit };
  if (bytes.length <= SMALL_BYTES) return convert(message);
  const worker = new Worker(new URL('./convert-worker.ts', import.meta.url), { workerData: message });
  const reply = await new Promise<ConvertReply>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
    worker.once('exit', (code) => reject(new Error(`The thread that decodes OTLP ended with ${code}`)));
  });
  if (reply.ok) return { ...reply.result, body: Buffer.from(reply.result.body) };
  throw reply.undecodable ? new OtlpDecodeError(reply.message) : new Error(reply.message);
}
