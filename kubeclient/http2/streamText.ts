import type { Readable } from 'node:stream';

interface StreamReadOptions {
  /** Called for each chunk before it is yielded. */
  readonly onChunk?: () => void;
  /** Returns the error to throw for a stream that closed prematurely. `error` is the stream's own error, if any. */
  readonly toError?: (error: Error | null) => unknown;
}

/**
 * Yields the chunks until the stream ends or breaks. Destroys the stream if the consumer stops. All of this is in one
 * generator in order to save memory, because there may be a thousand watches that stay open for hours.
 */
export async function* readStreamText(
  stream: Readable,
  { onChunk = () => {}, toError = toPrematureCloseError }: StreamReadOptions = {},
): AsyncGenerator<string> {
  stream.setEncoding('utf8');
  let wakeReader = () => {};
  const onChange = () => wakeReader();
  for (const event of STATE_EVENTS) stream.on(event, onChange);
  try {
    for (;;) {
      const chunk: unknown = stream.read();
      if (chunk !== null) {
        onChunk();
        yield String(chunk);
      } else if (stream.readableEnded || stream.destroyed) break;
      else
        await new Promise<void>((resolve) => {
          wakeReader = resolve;
        });
    }
    if (!stream.readableEnded) throw toError(stream.errored);
  } finally {
    for (const event of STATE_EVENTS) stream.off(event, onChange);
    stream.destroy();
  }
}

const toPrematureCloseError = (error: Error | null): Error => error ?? new Error('the stream broke off');

/** Events after which the stream has data to read or has ended. */
const STATE_EVENTS = ['readable', 'end', 'close'] as const;
