import type { Duplex } from 'node:stream';

/** Error code to return to the parser, which stops on any error. This one is llhttp's `HPE_PAUSED`. */
const PAUSED_ERRNO = 21;

/**
 * Stops Node.js from creating further requests from bytes that a closed connection has already received. It would
 * otherwise create hundreds per block of 16 KiB and retain them until the connection has closed, which takes gigabytes
 * with many connections. The parser has no public method for this, but stops if its `onIncoming` returns an error
 * (`parserOnHeadersComplete` in `lib/_http_common.js`). Node.js sets `onIncoming` again for the next connection.
 */
export function stopParsing(socket: Duplex): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null) Reflect.set(parser, 'onIncoming', () => PAUSED_ERRNO);
}
