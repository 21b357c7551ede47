/** What a stream brings, as text. */
import type { Readable } from 'node:stream';

interface Reading {
  /** Told of each piece before anybody has it. */
  readonly onPiece?: () => void;
  /** Why the stream is no more, where it has not ended; `error` is its own, if it has one. */
  readonly whyBroken?: (error: Error | null) => unknown;
}

/**
 * The pieces as they come, until the stream has ended or broken off; whoever stops reading gives it up. One generator does
 * all of it: of watches that stay open for hours there may be a thousand.
 */
export async function* streamText(
  stream: Readable,
  { onPiece = () => {}, whyBroken = brokenOff }: Reading = {},
): AsyncGenerator<string> {
  stream.setEncoding('utf8');
  let wake = () => {};
  const onChange = () => wake();
  for (const event of EVENTS) stream.on(event, onChange);
  try {
    for (;;) {
      const piece: unknown = stream.read();
      if (piece !== null) {
        onPiece();
        yield String(piece);
      } else if (stream.readableEnded || stream.destroyed) break;
      else
        await new Promise<void>((done) => {
          wake = done;
        });
    }
    if (!stream.readableEnded) throw whyBroken(stream.errored);
  } finally {
    for (const event of EVENTS) stream.off(event, onChange);
    stream.destroy();
  }
}

const brokenOff = (error: Error | null): Error => error ?? new Error('the stream broke off');

/** After each of these there is something to read, or nothing will be any more. */
const EVENTS = ['readable', 'end', 'close'] as const;
