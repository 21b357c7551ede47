/** Remote commands of clients that speak `v5.channel.k8s.io` over a WebSocket (`streamtranslator.go` and `websocket.go` in `apiserver/pkg/util/proxy`). */
import type { IncomingMessage } from 'node:http';
import { type Duplex, PassThrough, Writable } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import * as z from 'zod/mini';
import { messageOf } from '../../base/failure.ts';
import { parsedJson } from '../../base/parsedJson.ts';
import { runRemoteCommand, type TerminalSize } from './remoteCommand.ts';
import type { SpdyConnection } from './spdyConnection.ts';

/** The subprotocol of exec and attach. */
export const COMMAND_SUBPROTOCOL = 'v5.channel.k8s.io';
/** The subprotocol of port-forward, whose messages carry the bytes of a SPDY connection. */
export const TUNNEL_SUBPROTOCOL = 'SPDY/3.1+portforward.k8s.io';

/** The protocols of a streaming server to which a command is translated, the best one first. */
export const TRANSLATED_PROTOCOLS = ['v5', 'v4', 'v3', 'v2'].map((each) => `${each}.channel.k8s.io`);

/** The protocol of a streaming server to which a tunnel leads. */
export const PORTS_PROTOCOL = 'portforward.k8s.io';

/** A client whose connection is to become a WebSocket. */
interface WebSocketClient {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** The bytes that followed the headers of the request. */
  readonly head: Buffer;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** The streams that a client requests. */
interface RequestedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** The first byte of a message, which names its stream (`apimachinery/pkg/util/remotecommand/constants.go`). */
const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** Size limit of a message, in bytes (`DefaultMaxPayloadBytes` of `golang.org/x/net/websocket`). */
const MAX_MESSAGE_BYTES = 32 << 20;

/** Whether a request offers a WebSocket with the subprotocol. */
export function offersSubprotocol({ headers }: Pick<IncomingMessage, 'headers'>, subprotocol: string): boolean {
  const offered = headers['sec-websocket-protocol'] ?? '';
  return (
    headers.upgrade?.toLowerCase() === 'websocket' && offered.split(',').some((each) => each.trim() === subprotocol)
  );
}

/** Opens a client's WebSocket with a subprotocol that it has offered. Rejects if the client goes before that. */
export function acceptWebSocket(
  { request, socket, head, signal }: WebSocketClient,
  subprotocol: string,
): Promise<WebSocket> {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  // Some names of Kubernetes' subprotocols are invalid by RFC 6455, so the package would refuse them.
  const { 'sec-websocket-protocol': _, ...headers } = request.headers;
  server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${subprotocol}`));
  const withoutSubprotocol: IncomingMessage = Object.create(request, { headers: { value: headers } });
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  const leave = () => reject(new Error('the client has gone'));
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  // The package refuses an invalid request by itself, and closes the connection.
  socket.once('close', leave);
  server.handleUpgrade(withoutSubprotocol, socket, head, resolve);
  return promise.finally(() => signal.removeEventListener('abort', leave));
}

/** Runs the command of a client over the connection to a streaming server that `dial` opens, and sends the client how it ended. */
export async function translateCommand(
  from: WebSocketClient,
  streams: RequestedStreams,
  dial: () => Promise<SpdyConnection>,
): Promise<void> {
  const client = await acceptWebSocket(from, COMMAND_SUBPROTOCOL);
  client.on('error', () => client.terminate());
  // An empty message announces that the connection is established.
  client.send(Buffer.of(streams.stdout ? CHANNEL.stdout : streams.stderr ? CHANNEL.stderr : CHANNEL.error));
  const status = await statusOf(dial, channelsOf(client, streams), from.signal);
  client.send(Buffer.concat([Buffer.of(CHANNEL.error), Buffer.from(JSON.stringify(status))]));
  client.close(NORMAL_CLOSURE);
}

const NORMAL_CLOSURE = 1000;

type Channels = Parameters<typeof runRemoteCommand>[1];

/** The Status with which a command ends. */
async function statusOf(dial: () => Promise<SpdyConnection>, channels: Channels, signal: AbortSignal): Promise<object> {
  try {
    const exitCode = await runRemoteCommand(await dial(), channels, signal);
    if (exitCode === 0) return { metadata: {}, status: 'Success' };
    return {
      metadata: {},
      status: 'Failure',
      reason: 'NonZeroExitCode',
      message: `command terminated with non-zero exit code: command terminated with exit code ${exitCode}`,
      details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
    };
  } catch (error) {
    const message = messageOf(error);
    return {
      metadata: {},
      status: 'Failure',
      reason: 'InternalError',
      code: 500,
      message: `Internal error occurred: ${message}`,
      details: { causes: [{ message }] },
    };
  }
}

function channelsOf(client: WebSocket, { stdin, stdout, stderr, tty }: RequestedStreams): Channels {
  const input = stdin ? new PassThrough() : undefined;
  let onSize: (size: TerminalSize) => void = () => {};
  // The latest size, which may arrive before the terminal is there.
  let size: TerminalSize | undefined;
  client.on('message', (data: Buffer) => {
    const [channel = CHANNEL.close, rest] = [data[0], data.subarray(1)];
    if (channel === CHANNEL.stdin && input !== undefined) return feed(client, input, rest);
    if (channel === CHANNEL.close && rest[0] === CHANNEL.stdin) return void input?.end();
    if (channel !== CHANNEL.resize) return;
    size = sizeOf(rest);
    if (size !== undefined) onSize(size);
  });
  client.once('close', () => input?.end());
  const followSize = (listener: (size: TerminalSize) => void) => {
    onSize = listener;
    if (size !== undefined) listener(size);
    return () => {};
  };
  return {
    stdin: input,
    stdout: stdout ? channelTo(client, CHANNEL.stdout) : undefined,
    stderr: stderr && !tty ? channelTo(client, CHANNEL.stderr) : undefined,
    tty: tty ? { followSize } : undefined,
  };
}

/** Stops reading from the client while the command does not read its input. */
function feed(client: WebSocket, input: PassThrough, data: Buffer): void {
  if (input.writableEnded || input.destroyed || input.write(data)) return;
  client.pause();
  input.once('drain', () => client.resume());
}

const channelTo = (client: WebSocket, channel: number): Writable =>
  new Writable({
    write: (chunk: Buffer, _, done) => client.send(Buffer.concat([Buffer.of(channel), chunk]), done),
  });

const terminalSize = z.object({ Width: z.number(), Height: z.number() });

function sizeOf(data: Buffer): TerminalSize | undefined {
  const { success, data: size } = z.safeParse(terminalSize, parsedJson(String(data)));
  return success ? size : undefined;
}
