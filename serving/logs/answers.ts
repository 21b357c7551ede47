/** Ways to answer: a few words, or much text at the pace of who reads it. */
import type { ServerResponse } from 'node:http';

/** A plain answer, as the server has them for all that goes wrong before anything was told. */
export function answerText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** As Go's http.Error: a line of text that no browser takes for anything else. */
export function answerError(response: ServerResponse, status: number, text: string): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  answerText(response, status, `${text}\n`);
}

/**
 * Writes chunks as fast as they are taken: each is made when the one before has left, so that one is all that is held.
 * Ends early, and with it the making of them, when the client has gone. Gives how many bytes there were.
 */
export async function writeAll(
  response: ServerResponse,
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
function write(response: ServerResponse, chunk: Buffer, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => {
    signal.removeEventListener('abort', end);
    resolve();
  };
  signal.addEventListener('abort', end, { once: true });
  response.write(chunk, end);
  return promise;
}
