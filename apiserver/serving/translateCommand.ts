/** A command of a client that speaks `v5.channel.k8s.io` over a WebSocket, for a node that speaks only SPDY (`streamtranslator.go`). */
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { WebSocket } from 'ws';
import { runRemoteCommand, type TerminalSize } from '../../cri/streaming/remoteCommand.ts';
import { SpdyConnection } from '../../cri/streaming/spdyConnection.ts';
import { messageOf } from '../../pod/failure.ts';
import type { Forward, ForwardedStreams } from '../connect/forward.ts';
import { headersFor } from './forwarding.ts';
import type { AskNode } from './nodeClient.ts';
import { type Client, spdyHeaders } from './upgradeClient.ts';
import { acceptWebSocket } from './webSockets.ts';

/** What the first byte of a message says that it is of. */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;
const PROTOCOLS = ['v5', 'v4', 'v3', 'v2'].map((each) => `${each}.channel.k8s.io`);

export async function translateCommand(
  askNode: AskNode,
  forward: Forward,
  from: Client,
  protocol: string,
): Promise<void> {
  const client = await acceptWebSocket(from, protocol);
  client.on('error', () => client.terminate());
  const { streams = { stdin: false, stdout: false, stderr: false, tty: false } } = forward;
  // It says that the connection stands.
  client.send(Buffer.of(streams.stdout ? CHANNEL.stdout : streams.stderr ? CHANNEL.stderr : CHANNEL.error));
  const channels = channelsOf(client, streams);
  const headers = headersFor({}, from.request.socket.remoteAddress, spdyHeaders(PROTOCOLS));
  const status = await ended(askNode, forward, headers, channels, from.signal);
  client.send(Buffer.concat([Buffer.of(CHANNEL.error), Buffer.from(JSON.stringify(status))]));
  client.close(1000);
}

type Channels = Parameters<typeof runRemoteCommand>[1];

/** How a command has ended, as a Status. */
async function ended(
  askNode: AskNode,
  { node, path }: Forward,
  headers: ReturnType<typeof headersFor>,
  channels: Channels,
  signal: AbortSignal,
): Promise<object> {
  try {
    const { response, socket, head } = await askNode(node, { method: 'POST', path, headers, signal });
    if (socket === undefined) throw new Error(`unable to upgrade connection: ${(await text(response)).trim()}`);
    if (head.length > 0) socket.unshift(head);
    return statusOf(await runRemoteCommand(new SpdyConnection(socket, { side: 'client' }), channels, signal));
  } catch (error) {
    const message = messageOf(error);
    return {
      ...{ metadata: {}, status: 'Failure', reason: 'InternalError', code: 500 },
      ...{ message: `Internal error occurred: ${message}`, details: { causes: [{ message }] } },
    };
  }
}

function statusOf(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    ...{ metadata: {}, status: 'Failure', reason: 'NonZeroExitCode' },
    message: `command terminated with non-zero exit code: command terminated with exit code ${exitCode}`,
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

function channelsOf(client: WebSocket, { stdin, stdout, stderr, tty }: ForwardedStreams): Channels {
  const input = stdin ? new PassThrough() : undefined;
  let tellSize: (size: TerminalSize) => void = () => {};
  // What comes before somebody wants to know of it.
  let size: TerminalSize | undefined;
  client.on('message', (data: Buffer) => {
    const [channel = CHANNEL.close, rest] = [data[0], data.subarray(1)];
    if (channel === CHANNEL.stdin && input !== undefined) return feed(client, input, rest);
    if (channel === CHANNEL.close && rest[0] === CHANNEL.stdin) return void input?.end();
    if (channel !== CHANNEL.resize) return;
    size = sizeOf(rest);
    if (size !== undefined) tellSize(size);
  });
  client.once('close', () => input?.end());
  const followSize = (tell: (size: TerminalSize) => void) => {
    tellSize = tell;
    if (size !== undefined) tell(size);
    return () => {};
  };
  return {
    stdin: input,
    stdout: stdout ? channelTo(client, CHANNEL.stdout) : undefined,
    stderr: stderr && !tty ? channelTo(client, CHANNEL.stderr) : undefined,
    tty: tty ? { followSize } : undefined,
  };
}

/** No more is read of the client than the command takes. */
function feed(client: WebSocket, input: PassThrough, data: Buffer): void {
  if (input.writableEnded || input.destroyed || input.write(data)) return;
  client.pause();
  input.once('drain', () => client.resume());
}

const channelTo = (client: WebSocket, channel: number): Writable =>
  new Writable({
    write: (chunk: Buffer, _, done) => client.send(Buffer.concat([Buffer.of(channel), chunk]), done),
  });

function sizeOf(data: Buffer): TerminalSize | undefined {
  try {
    const { Width, Height } = JSON.parse(String(data));
    return typeof Width === 'number' && typeof Height === 'number' ? { Width, Height } : undefined;
  } catch {
    return undefined;
  }
}
