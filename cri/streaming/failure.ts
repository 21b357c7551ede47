import { messageOf, NodeFailure } from '../../base/failure.ts';

/** Returns the failure of a connection whose peer violates SPDY/3.1 or a limit. The connection is closed. */
export const protocolFailure = (problem: string): NodeFailure =>
  new NodeFailure('StreamFailed', `the streaming connection was ended: ${problem}`);

/** Returns the failure of a connection that the peer closed or that broke. */
export const connectionClosed = (cause?: unknown): NodeFailure => {
  const suffix = cause === undefined ? '' : `: ${messageOf(cause)}`;
  return new NodeFailure('StreamFailed', `the streaming connection has ended${suffix}`, { cause });
};

/** Returns the failure of a stream that the peer refused, because of its kind or because there are too many. */
export const streamRefused = (status: number): NodeFailure =>
  new NodeFailure('StreamFailed', `a stream was refused with the status ${status}`);
