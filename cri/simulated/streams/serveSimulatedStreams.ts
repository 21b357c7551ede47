/** Implements the streaming server of the simulated runtime. The protocols are real, but the commands are simulated. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TimerClock } from '../../../base/time/clock.ts';
import type { SpdyConnection } from '../../streaming/spdyConnection.ts';
import type { SpdyStream } from '../../streaming/spdyStream.ts';
import { acceptSpdy } from '../../streaming/upgrade.ts';
import { countStreams, serveCommand } from './serveCommand.ts';
import { servePorts } from './servePorts.ts';
import type { ServeStream, SimulatedStream } from './streams.ts';

const COMMAND_PROTOCOLS = ['v4.channel.k8s.io'];
const PORT_PROTOCOLS = ['portforward.k8s.io'];

/** Time limit in milliseconds for connecting to a URL. Afterwards the URL is invalid. */
const URL_LIFETIME_MS = 60_000;

/** Creates a streaming server on the loopback interface. The server starts with the first stream. */
export function serveSimulatedStreams(clock: TimerClock): {
  readonly streams: ServeStream;
  /** Closes the server and all connections. The next stream starts it again. */
  readonly close: () => Promise<void>;
} {
  const pendingStreams = new Map<string, { readonly stream: SimulatedStream; readonly timer: unknown }>();
  const claimStream = (path: string) => {
    const pendingStream = pendingStreams.get(path);
    if (pendingStream !== undefined) clock.clearTimeout(pendingStream.timer);
    pendingStreams.delete(path);
    return pendingStream?.stream;
  };
  const connections = new Set<SpdyConnection>();
  let server: Promise<Server> | undefined;
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const stream = claimStream(request.url ?? '');
    if (stream === undefined) return void socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
    const connection = acceptConnection(stream, { request, socket, head }, clock);
    if (connection === undefined) return;
    connections.add(connection);
    void connection.closePromise.then(() => connections.delete(connection));
  };
  const streams: ServeStream = async (stream) => {
    server ??= startServer(onUpgrade);
    const { port } = getAddress(await server);
    const path = `/${stream.kind}/${randomBytes(6).toString('base64url')}`;
    pendingStreams.set(path, { stream, timer: clock.setTimeout(() => claimStream(path), URL_LIFETIME_MS) });
    return `http://127.0.0.1:${port}${path}`;
  };
  const close = async () => {
    const closingServer = server;
    server = undefined;
    for (const path of pendingStreams.keys()) claimStream(path);
    for (const connection of connections) connection.close();
    if (closingServer === undefined) return;
    (await closingServer).close().closeAllConnections();
  };
  return { streams, close };
}

async function startServer(upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): Promise<Server> {
  const server = createServer((_, response) => void response.writeHead(400).end('Upgrade request required\n'));
  server.on('upgrade', upgrade).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Unreference the server, so that it does not prevent the process from exiting.
  return server.unref();
}

// Safe cast, because a server on a TCP port has an `AddressInfo`.
const getAddress = (server: Server): AddressInfo => server.address() as AddressInfo;

interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

function acceptConnection(
  stream: SimulatedStream,
  { request, socket, head }: UpgradeRequest,
  clock: TimerClock,
): SpdyConnection | undefined {
  const isPortForward = stream.kind === 'portForward';
  const openStreams: SpdyStream[] = [];
  const acceptedConnection = acceptSpdy(request, socket, head, {
    protocols: isPortForward ? PORT_PROTOCOLS : COMMAND_PROTOCOLS,
    onStream: (openedStream) => {
      openStreams.push(openedStream);
      if (stream.kind === 'portForward') return servePorts(stream, openStreams, openedStream);
      if (openStreams.length < countStreams(stream) || acceptedConnection === undefined) return;
      const { connection } = acceptedConnection;
      void serveCommand(stream, openStreams, { clock, disconnected: connection.closePromise }).then(() =>
        connection.close(),
      );
    },
  });
  return acceptedConnection?.connection;
}
