/** The thread that takes one big OTLP request apart. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ConvertMessage, type ConvertReply, convert } from './convert-request.ts';
import { OtlpDecodeError } from './record.ts';

function reply(): ConvertReply {
  try {
    return { ok: true, result: convert(workerData as ConvertMessage) };
  } catch (error) {
    return { ok: false, undecodable: error instanceof OtlpDecodeError, message: (error as Error).message };
  }
}

parentPort?.postMessage(reply());
