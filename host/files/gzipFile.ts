import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** Writes the content of a file, compressed, to another, which gets the rights of the first and is durable at the end. */
export async function gzipFile(from: string, to: string, signal: AbortSignal): Promise<void> {
  const { mode } = await stat(from);
  await pipeline(createReadStream(from), createGzip(), createWriteStream(to, { mode, flush: true }), { signal });
}
