/** Turns the bytes of a file into text, or says why they are none. */
import { problem } from '../check/codes.ts';
import type { Diagnostic } from '../diagnostic.ts';

/** A file as the caller read it. */
export interface InputFile {
  /** Name for messages, as the user wrote it. */
  readonly file: string;
  readonly text: string | Uint8Array;
}

/** The largest file that is read, in bytes. */
export const LARGEST_FILE = 10 * 1024 * 1024;

type ReadText = { readonly text: string } | { readonly problem: Diagnostic };

/** Decodes UTF-8 without its byte order mark. Too large, binary and otherwise encoded files are problems. */
export function readText({ file, text }: InputFile): ReadText {
  const start = { file, line: 1, column: 1, endLine: 1, endColumn: 2 };
  if (text.length > LARGEST_FILE || (typeof text === 'string' && utf8Length(text) > LARGEST_FILE)) {
    const detail = `${file} is larger than 10 MB, the most that is read. Split it into several files of one directory and give the directory to -mf.`;
    return { problem: problem('file/too-large', detail, start) };
  }
  const decoded = typeof text === 'string' ? text : decode(text);
  if (decoded === undefined) {
    const code =
      hasUtf16Mark(text as Uint8Array) || !(text as Uint8Array).includes(0) ? 'file/encoding' : 'file/binary';
    const detail =
      code === 'file/encoding'
        ? `${file} is not encoded as UTF-8. Save it as UTF-8.`
        : `${file} is a binary file, not a text.`;
    return { problem: problem(code, detail, start) };
  }
  if (decoded.includes('\0')) {
    return {
      problem: problem('file/binary', `${file} holds a zero byte, so it is a binary file and not a text.`, start),
    };
  }
  return { text: decoded.startsWith('\ufeff') ? decoded.slice(1) : decoded };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined; // The only error of a fatal decoder: bytes that are not UTF-8.
  }
}

const hasUtf16Mark = ([a, b]: Uint8Array) => (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);

/** Bytes that a text takes in UTF-8; only counted when it can matter. */
function utf8Length(text: string): number {
  if (text.length * 3 <= LARGEST_FILE) return 0;
  return new TextEncoder().encode(text).length;
}
