/**
 * Serves remote commands to clients that use `v5.channel.k8s.io` over a WebSocket (`streamtranslator.go` and
 * `websocket.go` in `apiserver/pkg/util/proxy`).
 */
import type { IncomingMessage } from 'node:http';
import { type Duplex, PassThrough, Writable } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import * as z from 'zod/mini';
import { messageOf } from '../../base/failure.ts';
import { parseJson } from '../../base/values/parseJson.ts';
import { runRemoteCommand, type TerminalSize } from './remoteCommand.ts';
import type { SpdyConnection } from './spdyConnection.ts';

/** The subprotocol of exec and attach. */
export const COMMAND_SUBPROTOCOL = 'v5.channel.k8s.io';
/** The subprotocol of port-forward. Its messages carry the bytes of a SPDY connection. */
export const TUNNEL_SUBPROTOCOL = 'SPDY/3.1+portforward.k8s.io';

/** Protocols that a translated command may use on the connection to the streaming server, in order of preference. */
export const TRANSLATED_PROTOCOLS = ['v5', 'v4', 'v3', 'v2'].map((each) => `${each}.channel.k8s.io`);

/** Protocol of the streaming server at the other end of a tunnel. */
export const PORT_FORWARD_PROTOCOL = 'portforward.k8s.io';

/** A client that requests an upgrade to a WebSocket. */
interface WebSocketClient {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** The bytes that follow the headers of the request. */
  readonly head: Buffer;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

interface RequestedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/**
 * Channel numbers. The first byte of a message is the number of its channel
 * (`apimachinery/pkg/util/remotecommand/constants.go`).
 */
const CHANNEL_NUMBERS = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/**
 * Maximum size of a message in bytes (`DefaultMaxPayloadBytes` of `golang.org/x/net/websocket`). A larger message
 * closes the connection.
 */
const MAX_MESSAGE_BYTES = 32 << 20;

/** Whether a WebSocket upgrade request offers the subprotocol. */
export function offersSubprotocol({ headers }: Pick<IncomingMessage, 'headers'>, subprotocol: string): boolean {
  const offeredProtocols = headers['sec-websocket-protocol'] ?? '';
  return (
    headers.upgrade?.toLowerCase() === 'websocket' &&
    offeredProtocols.split(',').some((each) => each.trim() === subprotocol)
  );
}

/** Accepts a client's WebSocket with one of the offered subprotocols. Rejects if the client disconnects first. */
export function acceptWebSocket(
  { request, socket, head, signal }: WebSocketClient,
  subprotocol: string,
): Promise<WebSocket> {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  // Remove this header, because the ws package would refuse some of Kubernetes' subprotocols, whose names are invalid
  // according to RFC 6455.
  const { 'sec-websocket-protocol': _, ...headers } = request.headers;
  server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${subprotocol}`));
  const strippedRequest: IncomingMessage = Object.create(request, { headers: { value: headers } });
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>();
  const rejectDisconnected = () => reject(new Error('the client has gone'));
  signal.addEventListener('abort', rejectDisconnected);
  if (signal.aborted) rejectDisconnected();
  // The ws package refuses invalid requests itself and then closes the connection without calling `resolve`.
  socket.once('close', rejectDisconnected);
  server.handleUpgrade(strippedRequest, socket, head, resolve);
  return promise.finally(() => signal.removeEventListener('abort', rejectDisconnected));
}

/**
 * Runs a client's command over the connection to a streaming server that `dial` opens, and sends the resulting Status
 * to the client.
 */
export async function translateCommand(
  client: WebSocketClient,
  streams: RequestedStreams,
  dial: () => Promise<SpdyConnection>,
): Promise<void> {
  const webSocket = await acceptWebSocket(client, COMMAND_SUBPROTOCOL);
  webSocket.on('error', () => webSocket.terminate());
  // Send an empty message to announce that the connection is established.
  webSocket.send(
    Buffer.of(
      streams.stdout ? CHANNEL_NUMBERS.stdout : streams.stderr ? CHANNEL_NUMBERS.stderr : CHANNEL_NUMBERS.error,
    ),
  );
  const status = await runCommand(dial, openChannels(webSocket, streams), client.signal);
  webSocket.send(Buffer.concat([Buffer.of(CHANNEL_NUMBERS.error), Buffer.from(JSON.stringify(status))]));
  webSocket.close(NORMAL_CLOSURE_CODE);
}

const NORMAL_CLOSURE_CODE = 1000;

type CommandChannels = Parameters<typeof runRemoteCommand>[1];

/** Runs a command and returns its Status. */
async function runCommand(
  dial: () => Promise<SpdyConnection>,
  channels: CommandChannels,
  signal: AbortSignal,
): Promise<object> {
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

function openChannels(webSocket: WebSocket, { stdin, stdout, stderr, tty }: RequestedStreams): CommandChannels {
  const stdinStream = stdin ? new PassThrough() : undefined;
  let notifySize: (size: TerminalSize) => void = () => {};
  // Latest size of the terminal, which may arrive before the command subscribes to size changes.
  let latestSize: TerminalSize | undefined;
  webSocket.on('message', (data: Buffer) => {
    const [channel = CHANNEL_NUMBERS.close, rest] = [data[0], data.subarray(1)];
    if (channel === CHANNEL_NUMBERS.stdin && stdinStream !== undefined) return writeInput(webSocket, stdinStream, rest);
    if (channel === CHANNEL_NUMBERS.close && rest[0] === CHANNEL_NUMBERS.stdin) return void stdinStream?.end();
    if (channel !== CHANNEL_NUMBERS.resize) return;
    latestSize = parseSize(rest);
    if (latestSize !== undefined) notifySize(latestSize);
  });
  webSocket.once('close', () => stdinStream?.end());
  const subscribeToSize = (listener: (size: TerminalSize) => void) => {
    notifySize = listener;
    if (latestSize !== undefined) listener(latestSize);
    return () => {};
  };
  return {
    stdin: stdinStream,
    stdout: stdout ? channelWriter(webSocket, CHANNEL_NUMBERS.stdout) : undefined,
    stderr: stderr && !tty ? channelWriter(webSocket, CHANNEL_NUMBERS.stderr) : undefined,
    tty: tty ? { followSize: subscribeToSize } : undefined,
  };
}

/** Writes input, and pauses the client while the command does not read it. */
function writeInput(webSocket: WebSocket, input: PassThrough, data: Buffer): void {
  if (input.writableEnded || input.destroyed || input.write(data)) return;
  webSocket.pause();
  input.once('drain', () => webSocket.resume());
}

const channelWriter = (webSocket: WebSocket, channel: number): Writable =>
  new Writable({
    write: (chunk: Buffer, _, done) => webSocket.send(Buffer.concat([Buffer.of(channel), chunk]), done),
  });

const terminalSizeSchema = z.object({ Width: z.number(), Height: z.number() });

function parseSize(data: Buffer): TerminalSize | undefined {
  const { success, data: size } = z.safeParse(terminalSizeSchema, parseJson(String(data)));
  return success ? size : undefined;
}
