/** A command in a container, or the process that it runs, over a SPDY connection: `v4.channel.k8s.io`. */
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { NodeFailure } from '../../base/failure.ts';
import { startLimit } from '../../base/limit.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import { readCommandStatus } from './commandStatus.ts';
import { connectionEnded } from './failure.ts';
import type { SpdyConnection } from './spdyConnection.ts';
import type { SpdyStream } from './spdyStream.ts';

/** The versions in which the last word of a remote command is a Status with its exit code; over SPDY they are the same. */
export const COMMAND_PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

/** The header that says what a stream is. */
export const STREAM_TYPE = 'streamtype';

/** In columns and rows. */
export interface TerminalSize {
  readonly Width: number;
  readonly Height: number;
}

/** What a remote command reads and writes; what is absent it does not have. Where it writes to is ended with it. */
export interface CommandStreams {
  readonly stdin?: Readable | undefined;
  readonly stdout?: Writable | undefined;
  /** None with a terminal: there all that is written comes by stdout. */
  readonly stderr?: Writable | undefined;
  /** Whether the command has a terminal, and how the sizes of the one on this side are told: now and with each change. */
  readonly tty?: { followSize(tell: (size: TerminalSize) => void): () => void } | undefined;
}

/** The peer waits for the streams as long as that, in milliseconds. */
const OPENING_MS = 30_000;

/** So often the peer is asked for a sign of life, in milliseconds: it ends connections on which nothing happens for long. */
const PING_MS = 60_000;

/** More than any Status has. */
const STATUS_BYTES = 1024 * 1024;

/**
 * Runs a remote command to its end on a connection, which is closed then; gives the exit code. Rejects with the runtime's
 * words where the command did not run.
 */
export async function runRemoteCommand(
  connection: SpdyConnection,
  streams: CommandStreams,
  signal: AbortSignal,
): Promise<number> {
  const abort = () => connection.close();
  signal.addEventListener('abort', abort);
  const over = new AbortController();
  try {
    signal.throwIfAborted();
    const opened = await openStreams(connection, streams);
    const status = statusOf(opened.error).finally(() => {
      // All output comes before it: a server that is held up by what it has still to read does not get to end the streams.
      for (const stream of [opened.stdout, opened.stderr]) stream?.receiveEnd();
    });
    status.catch(() => {});
    void keepAlive(connection, over.signal);
    followSizes(opened.resize, streams, over.signal);
    if (opened.stdin && streams.stdin) void feed(streams.stdin, opened.stdin, over.signal);
    await Promise.all([copy(opened.stdout, streams.stdout), copy(opened.stderr, streams.stderr)]);
    return await codeOf(connection, await status);
  } catch (error) {
    throw signal.aborted ? new NodeFailure('Cancelled', 'the command was left', { cause: error }) : error;
  } finally {
    signal.removeEventListener('abort', abort);
    over.abort();
    connection.close();
  }
}

async function openStreams(connection: SpdyConnection, { stdin, stdout, stderr, tty }: CommandStreams) {
  const limit = startLimit(OPENING_MS);
  const open = (type: string) => connection.open(new Map([[STREAM_TYPE, type]]));
  const openIf = async (is: unknown, type: string) => (is ? open(type) : undefined);
  const all = Promise.all([
    open('error'),
    openIf(stdin, 'stdin'),
    openIf(stdout, 'stdout'),
    openIf(stderr && !tty, 'stderr'),
    openIf(tty, 'resize'),
  ]);
  try {
    const [error, input, output, errors, resize] = await unlessAborted(all, limit.signal);
    return { error, stdin: input, stdout: output, stderr: errors, resize };
  } catch (cause) {
    all.catch(() => {});
    if (!limit.signal.aborted) throw cause;
    throw new NodeFailure('StreamFailed', `the runtime has not accepted the streams within ${OPENING_MS / 1_000} s`);
  } finally {
    limit.end();
  }
}

/** What the peer says in the end; the connection may have ended before. */
async function codeOf(connection: SpdyConnection, status: string): Promise<number> {
  if (status !== '') return readCommandStatus(status);
  // It ends its streams first, and the connection next.
  const error = await Promise.race([connection.ended, passing(OPENING_MS)]);
  throw error ?? connectionEnded('it was not told how the command has ended');
}

function passing(ms: number): Promise<undefined> {
  return new Promise((resolve) => startLimit(ms).signal.addEventListener('abort', () => resolve(undefined)));
}

/** The Status, as soon as it is complete; empty where there is none. */
async function statusOf(stream: SpdyStream): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of stream) {
    length += part.length;
    if (length > STATUS_BYTES) throw new NodeFailure('StreamFailed', `a Status has more than ${STATUS_BYTES} bytes`);
    parts.push(part);
    const text = Buffer.concat(parts).toString('utf8');
    if (text.endsWith('}') && isJson(text)) return text;
  }
  return Buffer.concat(parts).toString('utf8');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Its end is passed on, so that the command sees it; what nobody reads any more is given up. */
async function feed(from: Readable, to: SpdyStream, signal: AbortSignal): Promise<void> {
  await pipeline(from, to, { signal }).catch(() => {});
}

/** A reader that is gone does not end the command: how it ends is still told. */
async function copy(from: SpdyStream | undefined, to: Writable | undefined): Promise<void> {
  if (from && to) await pipeline(from, to).catch(() => {});
}

function followSizes(stream: SpdyStream | undefined, { tty }: CommandStreams, over: AbortSignal): void {
  if (stream === undefined || tty === undefined) return;
  over.addEventListener(
    'abort',
    tty.followSize((size) => stream.write(`${JSON.stringify(size)}\n`)),
  );
}

async function keepAlive(connection: SpdyConnection, over: AbortSignal): Promise<void> {
  const ended = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve()));
  while (!over.aborted) {
    await Promise.race([ended, passing(PING_MS)]);
    if (!over.aborted) await connection.ping().catch(() => {});
  }
}
