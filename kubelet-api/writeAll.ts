/** Answers with much text at the pace of who reads it. */
import type { HttpResponse } from './exchange.ts';

/**
 * Writes chunks as fast as they are taken: each is made when the one before has left, so that one is all that is held.
 * Ends early, and with it the making of them, when the client has gone. Gives how many bytes there were.
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

/** Resolves once the chunk has left this process, or will not. */
function write(response: HttpResponse, chunk: Buffer, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    signal.removeEventListener('abort', end);
    resolve();
  };
  signal.addEventListener('abort', end, { once: true });
  response.write(chunk, end);
  return promise;
}
