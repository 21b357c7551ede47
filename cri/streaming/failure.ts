import { messageOf, NodeFailure } from '../../base/failure.ts';

/** What a peer has sent is not SPDY/3.1, or more than anybody needs: the connection ends with it. */
export const malformed = (what: string): NodeFailure =>
  new NodeFailure('StreamFailed', `the streaming connection was ended: ${what}`);

/** The peer, or the way to it, is gone. */
export const connectionEnded = (cause?: unknown): NodeFailure => {
  const why = cause === undefined ? '' : `: ${messageOf(cause)}`;
  return new NodeFailure('StreamFailed', `the streaming connection has ended${why}`, { cause });
};

/** The peer takes no such stream, or not one more. */
export const refused = (status: number): NodeFailure =>
  new NodeFailure('StreamFailed', `a stream was refused with the status ${status}`);
