/** What a command prints arrives whole, or the user is told that it does not. */
import { fstatSync, writeSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { messageOf } from '../../base/failure.ts';
import { errorCode } from '../../host/files/fileErrors.ts';

/** The part of a stream that is written to, with the file below it. */
interface Stream {
  readonly fd: number;
  write(data: string | Uint8Array): unknown;
}

/**
 * Writes all of a text. Of a file on a disk that has little room left a single write takes only a part, and Node.js does
 * not write the rest: it has to be asked again to say why. That is thrown. Whether there is room for more at once.
 */
export function writeWhole(stream: Stream, data: string | Uint8Array): boolean {
  if (!isFile(stream.fd)) return stream.write(data) !== false;
  const bytes = Buffer.from(data);
  for (let at = 0; at < bytes.length; ) at += writeSync(stream.fd, bytes, at);
  return true;
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/** A sentence on why nothing more can be written; undefined when its reader has what it wanted (`get pods | head`). */
export function whyUnwritten(error: unknown): string | undefined {
  const code = errorCode(error);
  if (code === 'EPIPE') return undefined;
  const [, words] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  return `cannot write to standard output: ${words ?? messageOf(error)}`;
}
