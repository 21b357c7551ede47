/** Streams large response bodies with backpressure. */
import type { HttpResponse } from './exchange.ts';

/**
 * Writes chunks one at a time. The next chunk is produced when the previous one has been written, so only one chunk is
 * in memory. Stops when the signal aborts. Returns the number of bytes.
 */
export async function writeAll(
  response: HttpResponse,
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<number> {
  let length = 0;
  for await (const chunk of chunks) {
    if (signal.aborted) break;
    length += chunk.length;
    await write(response, chunk, signal);
  }
  return length;
}

/** Resolves when the chunk has been written or the signal aborts. */
function write(response: HttpResponse, chunk: Buffer, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = () => {
    signal.removeEventListener('abort', finish);
    resolve();
  };
  signal.addEventListener('abort', finish, { once: true });
  response.write(chunk, finish);
  return promise;
}
