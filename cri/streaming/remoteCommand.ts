/** Runs a command in a container, or attaches to its process, over a SPDY connection (`v4.channel.k8s.io`). */
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { NodeFailure } from '../../base/failure.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { parseCommandStatus } from './commandStatus.ts';
import { createConnectionClosedFailure } from './failure.ts';
import type { SpdyConnection } from './spdyConnection.ts';
import type { SpdyStream } from './spdyStream.ts';

/**
 * Protocol versions in which a remote command ends with a Status that contains the exit code. These versions are
 * identical over SPDY.
 */
export const COMMAND_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

export const STREAM_TYPE_HEADER = 'streamtype';

/** Size of a terminal in columns and rows. */
export interface TerminalSize {
  readonly Width: number;
  readonly Height: number;
}

/**
 * Standard streams of a remote command. An undefined stream is not attached. The output streams are ended when the
 * command exits.
 */
export interface CommandStreams {
  readonly stdin?: Readable | undefined;
  readonly stdout?: Writable | undefined;
  /** Standard error. Undefined if the command has a terminal, because all output of a terminal arrives on stdout. */
  readonly stderr?: Writable | undefined;
  /**
   * Terminal of the command. `followSize` calls its argument with the current size and after each change, until the
   * returned function is called. Undefined if the command has no terminal.
   */
  readonly tty?: { followSize(onSize: (size: TerminalSize) => void): () => void } | undefined;
}

/** Time limit in milliseconds for opening the streams. The peer has the same limit. */
const OPEN_TIMEOUT_MS = 30_000;

/** Interval between pings in milliseconds. The pings prevent the peer from closing an idle connection. */
const PING_INTERVAL_MS = 60_000;

/** Maximum size of a Status in bytes. A larger Status is an error. */
const MAX_STATUS_BYTES = 1024 * 1024;

/**
 * Runs a remote command on a connection and returns the exit code. Closes the connection afterwards. Rejects with the
 * runtime's message if the command did not run.
 */
export async function runRemoteCommand(
  connection: SpdyConnection,
  streams: CommandStreams,
  signal: AbortSignal,
): Promise<number> {
  const closeConnection = () => connection.close();
  signal.addEventListener('abort', closeConnection);
  const completionController = new AbortController();
  try {
    signal.throwIfAborted();
    const remoteStreams = await openStreams(connection, streams);
    const status = readStatus(remoteStreams.error).finally(() => {
      // End the output streams here, because no output follows the Status, but the peer leaves these streams open while
      // it has unread input.
      for (const stream of [remoteStreams.stdout, remoteStreams.stderr]) stream?.receiveEnd();
    });
    status.catch(() => {});
    void sendKeepAlives(connection, completionController.signal);
    forwardTerminalSizes(remoteStreams.resize, streams, completionController.signal);
    if (remoteStreams.stdin && streams.stdin)
      void copyInput(streams.stdin, remoteStreams.stdin, completionController.signal);
    await Promise.all([
      copyOutput(remoteStreams.stdout, streams.stdout),
      copyOutput(remoteStreams.stderr, streams.stderr),
    ]);
    return await waitForExitCode(connection, await status);
  } catch (error) {
    throw signal.aborted ? new NodeFailure('Cancelled', 'the command was left', { cause: error }) : error;
  } finally {
    signal.removeEventListener('abort', closeConnection);
    completionController.abort();
    connection.close();
  }
}

async function openStreams(connection: SpdyConnection, { stdin, stdout, stderr, tty }: CommandStreams) {
  const limit = startTimeLimit(OPEN_TIMEOUT_MS);
  const openStream = (type: string) => connection.open(new Map([[STREAM_TYPE_HEADER, type]]));
  const openStreamIf = async (isRequested: unknown, type: string) => (isRequested ? openStream(type) : undefined);
  const openedStreams = Promise.all([
    openStream('error'),
    openStreamIf(stdin, 'stdin'),
    openStreamIf(stdout, 'stdout'),
    openStreamIf(stderr && !tty, 'stderr'),
    openStreamIf(tty, 'resize'),
  ]);
  try {
    const [error, input, output, errors, resize] = await unlessAborted(openedStreams, limit.signal);
    return { error, stdin: input, stdout: output, stderr: errors, resize };
  } catch (cause) {
    openedStreams.catch(() => {});
    if (!limit.signal.aborted) throw cause;
    throw new NodeFailure(
      'StreamFailed',
      `the runtime has not accepted the streams within ${OPEN_TIMEOUT_MS / 1_000} s`,
    );
  } finally {
    limit.clear();
  }
}

/** Returns the exit code. Without a Status, rejects with the error of the connection. */
async function waitForExitCode(connection: SpdyConnection, status: string): Promise<number> {
  if (status !== '') return parseCommandStatus(status);
  // Wait for the connection to close, because the peer closes the streams first and only the connection reports the
  // error.
  const error = await Promise.race([connection.closePromise, delay(OPEN_TIMEOUT_MS)]);
  throw error ?? createConnectionClosedFailure('it was not told how the command has ended');
}

function delay(ms: number): Promise<undefined> {
  return new Promise((resolve) => startTimeLimit(ms).signal.addEventListener('abort', () => resolve(undefined)));
}

/** Returns the Status as soon as it is complete, or an empty string if the stream ends without one. */
async function readStatus(stream: SpdyStream): Promise<string> {
  const chunks: Buffer[] = [];
  let totalBytes = 0;
  for await (const chunk of stream) {
    totalBytes += chunk.length;
    if (totalBytes > MAX_STATUS_BYTES)
      throw new NodeFailure('StreamFailed', `a Status has more than ${MAX_STATUS_BYTES} bytes`);
    chunks.push(chunk);
    const contents = Buffer.concat(chunks).toString('utf8');
    if (contents.endsWith('}') && isJson(contents)) return contents;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Copies the client's input to the command, and ends the stream at EOF. Ignores errors, because the command may stop
 * reading.
 */
async function copyInput(from: Readable, to: SpdyStream, signal: AbortSignal): Promise<void> {
  await pipeline(from, to, { signal }).catch(() => {});
}

/**
 * Copies the output of a command. If the reader has stopped, the command continues, and its exit code is still
 * reported.
 */
async function copyOutput(from: SpdyStream | undefined, to: Writable | undefined): Promise<void> {
  if (from && to) await pipeline(from, to).catch(() => {});
}

function forwardTerminalSizes(stream: SpdyStream | undefined, { tty }: CommandStreams, signal: AbortSignal): void {
  if (stream === undefined || tty === undefined) return;
  signal.addEventListener(
    'abort',
    tty.followSize((size) => stream.write(`${JSON.stringify(size)}\n`)),
  );
}

async function sendKeepAlives(connection: SpdyConnection, signal: AbortSignal): Promise<void> {
  const abortPromise = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  while (!signal.aborted) {
    await Promise.race([abortPromise, delay(PING_INTERVAL_MS)]);
    if (!signal.aborted) await connection.ping().catch(() => {});
  }
}
