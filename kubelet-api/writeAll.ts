/** Streams large response bodies with backpressure. */
import type { HttpResponse } from './exchange.ts';

/**
 * Writes chunks one at a time. Produces the next chunk only after writing the previous one, so only one chunk is in
 * memory. Stops when the signal aborts. Returns the number of bytes written.
 */
export async function writeAll(
  response: HttpResponse,
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<number> {
  let writtenBytes = 0;
  for await (const chunk of chunks) {
    if (signal.aborted) break;
    writtenBytes += chunk.length;
    await writeChunk(response, chunk, signal);
  }
  return writtenBytes;
}

/** Resolves when the chunk has been written or the signal aborts. */
function writeChunk(response: HttpResponse, chunk: Buffer, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const settleWrite = () => {
    signal.removeEventListener('abort', settleWrite);
    resolve();
  };
  signal.addEventListener('abort', settleWrite, { once: true });
  response.write(chunk, settleWrite);
  return promise;
}
