import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Compresses a file into a new file with the same mode. The new file is durable when the call returns. */
export async function gzipFile(from: string, to: string, signal: AbortSignal): Promise<void> {
  const { mode } = await stat(from);
  await pipeline(createReadStream(from), createGzip(), createWriteStream(to, { mode, flush: true }), { signal });
}
