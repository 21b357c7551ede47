import type { Duplex } from 'node:stream';

/** Any error of llhttp would do: this is its `HPE_PAUSED`. */
const PAUSED = 21;

/**
 * Has no further request made of what has come of a connection already, as when it is cut. Node.js makes all of them
 * otherwise, hundreds of a block of 16 KiB, and keeps them until the connection has closed: with many connections at once
 * that is gigabytes. Nothing public stops its parser; what its `onIncoming` returns does (`parserOnHeadersComplete` in
 * `lib/_http_common.js`). It is set anew for the next connection.
 */
export function stopParsing(socket: Duplex): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null) Reflect.set(parser, 'onIncoming', () => PAUSED);
}
