import { messageOf, NodeFailure } from '../../base/failure.ts';

/** Returns the failure of a connection whose peer violates SPDY/3.1 or a limit. The connection is closed. */
export const protocolFailure = (problem: string): NodeFailure =>
  new NodeFailure('StreamFailed', `the streaming connection was ended: ${problem}`);

/** Returns the failure of a connection that the peer closed or that broke. */
export const createConnectionClosedFailure = (cause?: unknown): NodeFailure => {
  const causeSuffix = cause === undefined ? '' : `: ${messageOf(cause)}`;
  return new NodeFailure('StreamFailed', `the streaming connection has ended${causeSuffix}`, { cause });
};

/**
 * Returns the failure of a stream that the peer refused, because it does not support the stream type or has too many
 * streams.
 */
export const createStreamRefusedFailure = (status: number): NodeFailure =>
  new NodeFailure('StreamFailed', `a stream was refused with the status ${status}`);
