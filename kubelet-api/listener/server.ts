/** Serves HTTP/2 and HTTP/1.1, with limits that protect the server from slow and malicious clients. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  createSecureServer,
  Http2ServerRequest,
  type Http2ServerResponse,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { isUnspecifiedIp } from '../../base/ipAddress.ts';
import { nextTurn } from '../../base/nextTurn.ts';
import { startTimeLimit } from '../../base/timeLimit.ts';
import { affordableConnections, guardConnections } from '../../host/connectionGuard.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import type { Upgrade } from '../exchange.ts';
import { type DispatchOptions, dispatch } from './dispatch.ts';
import { stopParsing } from './stopParsing.ts';

/**
 * Called for each request. The returned function is called with the request's duration in milliseconds once the request
 * has ended.
 */
export type RequestListener = (request: {
  readonly method: string;
  readonly target: string;
  readonly isWebSocket?: boolean;
}) => (ms: number) => void;

interface Options extends DispatchOptions {
  readonly clock: Clock;
  readonly onRequest?: RequestListener | undefined;
  /** Undefined for a server without TLS, which has no HTTP/2, as in Go. */
  readonly tls?: SecureServerOptions;
  readonly patience?: Patience;
}

/** Time limits of a client, in milliseconds. */
interface Patience {
  /** Time limit for receiving the headers of an HTTP/1.1 request. */
  readonly headersMs: number;
  readonly handshakeMs: number;
}

export interface Bound {
  readonly port: number;
  readonly server: Server;
  /** Closes all connections gracefully, so clients have to reconnect. */
  renew(): void;
  close(): Promise<void>;
}

/** Limits of `ListenAndServeKubeletServer` in `pkg/kubelet/server/server.go`. Only `headersMs` is shorter here. */
const HEADER_BYTES = 1 << 20;
const IDLE_MS = 90_000;
const LONGEST_MS = 4 * 60 * 60_000;
const PATIENCE: Patience = { headersMs: 60_000, handshakeMs: 30_000 };
/** Interval between two searches for clients that exceed their time limits. */
const CHECK_INTERVAL_MS = 30_000;
/** Maximum number of connections. Each one takes about 50 KiB. */
const MAX_CONNECTIONS = 10_000;
/**
 * Maximum number of open requests per HTTP/1.1 connection, because each of them is buffered. No client of a kubelet
 * sends a request before the response to the previous one.
 */
const MAX_PIPELINED = 8;
/** Maximum number of open requests per HTTP/2 connection (`defaultMaxStreams` of `net/http` in Go). */
const MAX_STREAMS = 250;
/**
 * Memory that Node.js may use for an HTTP/2 connection, in megabytes. The default of 10 does not suffice for the data
 * that 250 streams may have in flight.
 */
const SESSION_MEMORY_MB = 32;
/** Timeout for responses in progress when the server closes. */
const LAST_ANSWER_MS = 500;
/**
 * Time that a client which is still sending has to read the response before the connection is closed
 * (`rstAvoidanceDelay` of `net/http` in Go).
 */
const FAREWELL_MS = 500;

/**
 * Offers HTTP/2 through ALPN. HTTP/1.1 remains available for clients without HTTP/2 and for upgrades, which HTTP/2 does
 * not support.
 */
const HTTP2 = {
  allowHTTP1: true,
  ALPNProtocols: ['h2', 'http/1.1'],
  settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: HEADER_BYTES },
  maxSessionMemory: SESSION_MEMORY_MB,
} satisfies SecureServerOptions;

const limitsOf = ({ headersMs, handshakeMs }: Patience) => ({
  maxHeaderSize: HEADER_BYTES,
  keepAliveTimeout: IDLE_MS,
  headersTimeout: headersMs,
  requestTimeout: LONGEST_MS,
  insecureHTTPParser: false,
  keepAlive: true,
  noDelay: true,
  connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, headersMs),
  handshakeTimeout: handshakeMs,
});

/** Listens on an address and rejects if it is not available. The address for all of IPv4 also includes all of IPv6. */
export async function serve(
  address: { readonly host: string; readonly port: number },
  options: Options,
): Promise<Bound> {
  const limits = limitsOf(options.patience ?? PATIENCE);
  const server = options.tls ? createSecureServer({ ...limits, ...HTTP2, ...options.tls }) : createServer(limits);
  const maxConnections = affordableConnections(MAX_CONNECTIONS);
  guardConnections(server, { maxConnections, maxPerAddress: Math.ceil(maxConnections / 2) });
  const served = new Served(server, options);
  await listen(server, address);
  // Safe cast: a server that listens on an address has a port.
  const { port } = server.address() as AddressInfo;
  return { port, server, renew: () => served.renew(), close: () => served.close() };
}

async function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  const isWhole = isUnspecifiedIp(host);
  try {
    server.listen({ port, host: isWhole ? '::' : host });
    await once(server, 'listening');
  } catch (error) {
    if (!isWhole || !hasNoIpv6(error)) throw error;
    server.listen({ port, host: '0.0.0.0' });
    await once(server, 'listening');
  }
}

/** Whether the kernel has no IPv6 support. */
const hasNoIpv6 = (error: unknown): boolean =>
  ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'].includes(errorCode(error) ?? '');

interface Connection {
  /** The client's socket, which is a TLS socket on a server with TLS. */
  readonly socket: Socket;
  /** Undefined for HTTP/1.1. */
  session?: ServerHttp2Session;
  /** Number of open requests. */
  open: number;
  /** Whether the connection must be closed as soon as it has no open requests. */
  isOutdated: boolean;
  /** Closes an HTTP/2 connection without requests. Node.js only implements such a timeout for HTTP/1.1. */
  idleTimer?: unknown;
}

type Incoming = IncomingMessage | Http2ServerRequest;

class Served {
  readonly #server: Server;
  readonly #options: Options;
  readonly #connections = new Map<Duplex, Connection>();
  readonly #sessions = new Map<object, Connection>();
  readonly #ends = new Set<AbortController>();

  constructor(server: Server, options: Options) {
    this.#server = server;
    this.#options = options;
    server.on('tlsClientError', () => {});
    server.on('request', (request: Incoming, response: ServerResponse | Http2ServerResponse) => {
      if (request instanceof Http2ServerRequest) this.#takeStream(request, response as Http2ServerResponse);
      else this.#takeRequest(request, response as ServerResponse);
    });
    server.on('upgrade', (request, socket, head) => this.#takeUpgrade(request, socket, head));
    let latest: Connection | undefined;
    // Node.js starts the session synchronously, in its own listener after this one.
    server.prependListener(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
      latest = this.#addConnection(socket);
    });
    server.on('session', (session: ServerHttp2Session) => {
      if (latest !== undefined) this.#addSession(latest, session);
    });
  }

  /** Closes idle connections immediately and each of the others after responding to its requests. */
  renew(): void {
    for (const connection of this.#connections.values()) {
      connection.isOutdated = true;
      if (connection.open === 0) connection.socket.destroy();
      // Announces that no further streams are accepted.
      else connection.session?.close();
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.renew();
    for (const end of this.#ends) end.abort();
    const patience = startTimeLimit(LAST_ANSWER_MS);
    patience.signal.addEventListener('abort', () => {
      for (const socket of this.#connections.keys()) socket.destroy();
    });
    await closed;
    patience.clear();
  }

  #addConnection(socket: Socket): Connection {
    const connection: Connection = { socket, open: 0, isOutdated: false };
    this.#connections.set(socket, connection);
    socket.once('close', () => this.#connections.delete(socket));
    return connection;
  }

  #addSession(connection: Connection, session: ServerHttp2Session): void {
    connection.session = session;
    this.#sessions.set(session, connection);
    this.#waitIdle(connection);
    session.once('close', () => {
      this.#sessions.delete(session);
      this.#options.clock.clearTimeout(connection.idleTimer);
    });
  }

  /**
   * Starts the idle timeout. As in Go, only the end of a request restarts it, so pings do not keep a connection open.
   */
  #waitIdle(connection: Connection): void {
    const { clock } = this.#options;
    clock.clearTimeout(connection.idleTimer);
    connection.idleTimer = clock.setTimeout(() => {
      if (connection.open > 0) return;
      connection.session?.close();
      connection.socket.destroySoon();
    }, IDLE_MS);
  }

  #takeUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    // Node.js has detached the connection from the parser and the response, so its error and drain events must be
    // handled here.
    socket.on('error', () => socket.destroy());
    socket.on('drain', () => response.emit('drain'));
    response.once('finish', () => socket.end());
    // Safe cast: the connection of a request is a Socket.
    response.assignSocket(socket as Socket);
    this.#takeRequest(request, response, { request, response, socket, head });
  }

  #takeRequest(request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined || connection.open === MAX_PIPELINED || isClosing(connection)) {
      stopParsing(request.socket);
      request.socket.destroy();
      return;
    }
    if (connection.isOutdated) response.shouldKeepAlive = false;
    if (upgrade === undefined) response.once('finish', () => leaveUnread(request));
    this.#dispatch(connection, { request, response, upgrade });
  }

  #takeStream(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream } = request;
    const connection = stream.session && this.#sessions.get(stream.session);
    if (connection === undefined || connection.open === MAX_STREAMS || isClosing(connection)) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    stream.once('finish', () => void closeUnread(stream));
    this.#dispatch(connection, { request, response, upgrade: undefined });
  }

  #dispatch(
    connection: Connection,
    { request, response, upgrade }: Pick<Parameters<typeof dispatch>[1], 'request' | 'response' | 'upgrade'>,
  ): void {
    const { clock, onRequest } = this.#options;
    connection.open += 1;
    const end = new AbortController();
    this.#ends.add(end);
    const isWebSocket = /\bwebsocket\b/i.test(request.headers.upgrade ?? '');
    const done = onRequest?.({ method: request.method ?? '', target: request.url ?? '', isWebSocket });
    const startedAt = clock.monotonic();
    // The kubelet's write timeout. An upgraded connection has none.
    const timer = upgrade ? undefined : clock.setTimeout(() => response.destroy(), LONGEST_MS);
    (upgrade?.socket ?? response).once('close', () => {
      if (timer !== undefined) clock.clearTimeout(timer);
      connection.open -= 1;
      if (isClosing(connection)) connection.socket.destroySoon();
      else if (connection.session !== undefined && connection.open === 0) this.#waitIdle(connection);
      this.#ends.delete(end);
      end.abort();
      done?.(clock.monotonic() - startedAt);
    });
    void dispatch(this.#options, { request, response, connection: connection.socket, signal: end.signal, upgrade });
  }
}

const isClosing = ({ isOutdated, open }: Connection): boolean => isOutdated && open === 0;

/** Closes a connection if the response did not need the whole body, because the client may never send the rest. */
function leaveUnread({ complete, socket }: IncomingMessage): void {
  if (complete || socket.destroyed) return;
  socket.end();
  const limit = startTimeLimit(FAREWELL_MS);
  limit.signal.addEventListener('abort', () => socket.destroy());
  socket.once('close', () => limit.clear());
}

/**
 * Closes a stream whose response is complete but whose request is not, because the client may never send the rest of a
 * body that the response did not need. Go does the same. The reset waits for a turn of the event loop, because nghttp2
 * would otherwise send it before the end of the response, and Go's client would treat the response as broken.
 */
async function closeUnread(stream: ServerHttp2Stream): Promise<void> {
  if (hasRequestEnded(stream)) return;
  await nextTurn();
  if (!hasRequestEnded(stream)) stream.close(constants.NGHTTP2_NO_ERROR);
}

const hasRequestEnded = (stream: ServerHttp2Stream): boolean => stream.closed || stream.state.remoteClose === 1;
