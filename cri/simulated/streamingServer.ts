/** The streaming server of a simulated runtime: what it speaks is real, what it says is made up. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SpdyConnection } from '../streaming/spdyConnection.ts';
import type { SpdyStream } from '../streaming/spdyStream.ts';
import { acceptSpdy } from '../streaming/upgrade.ts';
import type { Clock } from './clock.ts';
import { serveCommand, streamsOf } from './servedCommand.ts';
import { servePorts } from './servedPorts.ts';
import type { ServeStream, SimulatedStream } from './streams.ts';

const COMMAND_PROTOCOLS = ['v4.channel.k8s.io'];
const PORT_PROTOCOLS = ['portforward.k8s.io'];

/** A URL that nobody has come to is forgotten after so long, in milliseconds. */
const URL_MS = 60_000;

/** Serves on loopback from the first stream on. */
export function serveSimulatedStreams(clock: Clock): {
  readonly streams: ServeStream;
  /** Ends every connection; the next stream is served again. */
  readonly close: () => Promise<void>;
} {
  const waiting = new Map<string, { readonly stream: SimulatedStream; readonly timer: unknown }>();
  const take = (path: string) => {
    const found = waiting.get(path);
    if (found !== undefined) clock.clearTimeout(found.timer);
    waiting.delete(path);
    return found?.stream;
  };
  const connections = new Set<SpdyConnection>();
  let server: Promise<Server> | undefined;
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const stream = take(request.url ?? '');
    if (stream === undefined) return void socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
    const connection = accept(stream, { request, socket, head }, clock);
    if (connection === undefined) return;
    connections.add(connection);
    void connection.ended.then(() => connections.delete(connection));
  };
  const streams: ServeStream = async (stream) => {
    server ??= listening(upgrade);
    const { port } = addressOf(await server);
    const path = `/${stream.kind}/${randomBytes(6).toString('base64url')}`;
    waiting.set(path, { stream, timer: clock.setTimeout(() => take(path), URL_MS) });
    return `http://127.0.0.1:${port}${path}`;
  };
  const close = async () => {
    const served = server;
    server = undefined;
    for (const path of waiting.keys()) take(path);
    for (const connection of connections) connection.close();
    if (served === undefined) return;
    (await served).close().closeAllConnections();
  };
  return { streams, close };
}

async function listening(upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): Promise<Server> {
  const server = createServer((_, response) => void response.writeHead(400).end('Upgrade request required\n'));
  server.on('upgrade', upgrade).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // It keeps no process alive that has nothing else to do.
  return server.unref();
}

// A server that listens at a port has such an address.
const addressOf = (server: Server): AddressInfo => server.address() as AddressInfo;

interface Asked {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

function accept(stream: SimulatedStream, { request, socket, head }: Asked, clock: Clock): SpdyConnection | undefined {
  const isOfPorts = stream.kind === 'portForward';
  const opened: SpdyStream[] = [];
  const accepted = acceptSpdy(request, socket, head, {
    protocols: isOfPorts ? PORT_PROTOCOLS : COMMAND_PROTOCOLS,
    onStream: (each) => {
      opened.push(each);
      if (stream.kind === 'portForward') return servePorts(stream, opened, each);
      if (opened.length < streamsOf(stream) || accepted === undefined) return;
      const { connection } = accepted;
      void serveCommand(stream, opened, { clock, left: connection.ended }).then(() => connection.close());
    },
  });
  return accepted?.connection;
}
