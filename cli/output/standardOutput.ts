/** Writes to standard output and reports incomplete writes as errors. */
import { fstatSync, writeSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { messageOf } from '../../base/failure.ts';
import { errorCode } from '../../host/files/fileErrors.ts';

/** The members of an output stream that this file uses. */
interface Stream {
  readonly fd: number;
  write(data: string | Uint8Array): unknown;
}

/**
 * Writes all data. On a nearly full disk, a single write is partial, and Node.js neither writes the rest nor reports an
 * error. Therefore files are written in a loop, which throws on failure. Returns false if the caller should wait for
 * `drain`.
 */
export function writeFully(stream: Stream, data: string | Uint8Array): boolean {
  if (!isFile(stream.fd)) return stream.write(data) !== false;
  const bytes = Buffer.from(data);
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(stream.fd, bytes, offset);
  return true;
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/** Returns a message for a failed write, or undefined if the reader has closed the pipe (`get pods | head`). */
export function writeErrorMessage(error: unknown): string | undefined {
  const systemErrorCode = errorCode(error);
  if (systemErrorCode === 'EPIPE') return undefined;
  const [, description] = [...getSystemErrorMap().values()].find(([name]) => name === systemErrorCode) ?? [];
  return `cannot write to standard output: ${description ?? messageOf(error)}`;
}
