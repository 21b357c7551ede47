/** Connects to the sockets of plugins over gRPC. */
import { Client, connectivityState, credentials } from '@grpc/grpc-js';
import { messageOf, NodeFailure } from '../../base/failure.ts';
import { createSystemTurnLimiter } from '../../base/time/clock.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { formatRpcError, isCallTimeoutMessage, rpcCodeName } from '../../cri/client/failure.ts';
import type { Method } from '../../cri/client/method.ts';
import type { PacedClient } from '../../cri/client/unaryCall.ts';

/** Maximum number of calls that start in one turn of the event loop. */
const MAX_CALLS_PER_TURN = 32;
const MAX_MESSAGE_BYTES = 16 * 2 ** 20;

/** Creates a client for a plugin's socket. The first call connects, and later calls reconnect if necessary. */
export const connectPlugin = (socketPath: string): PacedClient => ({
  client: new Client(`unix:${socketPath}`, credentials.createInsecure(), {
    'grpc.default_authority': 'localhost',
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 3000,
    'grpc.enable_retries': 0,
    'grpc.enable_channelz': 0,
    'grpc.use_local_subchannel_pool': 1,
  }),
  turnScheduler: createSystemTurnLimiter(MAX_CALLS_PER_TURN),
});

/**
 * Connects now and reconnects after each loss of the connection. Calls `onChange` immediately and after each change of
 * the channel's state, possibly with the same value as before. Returns a function that stops these calls.
 */
export function followConnection({ client }: PacedClient, onChange: (isConnected: boolean) => void): () => void {
  const channel = client.getChannel();
  let isStopped = false;
  const follow = () => {
    if (isStopped) return;
    const state = channel.getConnectivityState(true);
    onChange(state === connectivityState.READY);
    channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, follow);
  };
  follow();
  return () => {
    isStopped = true;
  };
}

/** Waits until the client is connected. On a timeout, rejects with the error of Go's gRPC library. */
export async function waitUntilConnected({ client }: PacedClient, timeoutMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timeLimit = startTimeLimit(timeoutMs);
  timeLimit.signal.addEventListener('abort', () => reject(new Error('context deadline exceeded')));
  client.waitForReady(Number.POSITIVE_INFINITY, (error) => (error ? reject(error) : resolve()));
  await promise.finally(timeLimit.clear);
}

/**
 * Opens a stream and reads its messages until the signal aborts. Resolves when the stream has ended, with or without an
 * error.
 */
export function readStream<Message>(
  { client }: PacedClient,
  { path, requestSerialize, responseDeserialize }: Method<object, Message>,
  signal: AbortSignal,
  onMessage: (message: Message) => void,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stream = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, {});
  const cancel = () => stream.cancel();
  const finish = () => {
    signal.removeEventListener('abort', cancel);
    resolve();
  };
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  stream.on('data', onMessage);
  stream.on('error', finish);
  stream.on('end', finish);
  return promise;
}

/** Returns Go's name for the gRPC status code of a failed call to a plugin. */
export const pluginErrorCode = (error: unknown): string => (isTimeout(error) ? 'DeadlineExceeded' : rpcCodeName(error));

/** Formats the failure of a call to a plugin as Go's gRPC library does. */
export function pluginErrorMessage(error: unknown): string {
  if (!(error instanceof NodeFailure)) return messageOf(error);
  if (error.reason === 'Cancelled') return 'rpc error: code = Canceled desc = context canceled';
  return isTimeout(error)
    ? 'rpc error: code = DeadlineExceeded desc = context deadline exceeded'
    : formatRpcError(error);
}

const isTimeout = (error: unknown): boolean => error instanceof NodeFailure && isCallTimeoutMessage(error.message);
