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
import { yieldToEventLoop } from '../../base/async/yieldToEventLoop.ts';
import { isUnspecifiedIp } from '../../base/ipAddress.ts';
import type { Clock } from '../../base/time/clock.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { connectionLimit, guardConnections } from '../../host/connectionGuard.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import type { Upgrade } from '../exchange.ts';
import { type DispatchOptions, dispatch } from './dispatch.ts';

/**
 * Called for each request. The returned function is called with the request's duration in milliseconds once the request
 * has ended.
 */
export type RequestListener = (request: {
  readonly method: string;
  readonly target: string;
  readonly isWebSocket?: boolean;
}) => (ms: number) => void;

interface ServeOptions extends DispatchOptions {
  readonly clock: Clock;
  readonly onRequest?: RequestListener | undefined;
  /** Undefined for a server without TLS, which has no HTTP/2, as in Go. */
  readonly tls?: SecureServerOptions;
  readonly timeouts?: ServerTimeouts;
}

/** Timeouts for slow clients, in milliseconds. */
interface ServerTimeouts {
  /** Timeout for receiving the headers of an HTTP/1.1 request. */
  readonly headersMs: number;
  /** Timeout for receiving a whole HTTP/1.1 request. */
  readonly requestMs: number;
  readonly handshakeMs: number;
}

export interface BoundServer {
  readonly port: number;
  readonly server: Server;
  /** Closes all connections gracefully, which forces clients to reconnect. */
  renew(): void;
  close(): Promise<void>;
}

/**
 * The next four limits are those of the kubelet (`ListenAndServeKubeletServer` in `pkg/kubelet/server/server.go`),
 * except for `headersMs`, which is shorter here.
 */
const MAX_HEADER_BYTES = 1 << 20;
const IDLE_TIMEOUT_MS = 90_000;
const MAX_REQUEST_MS = 4 * 60 * 60_000;
const DEFAULT_TIMEOUTS: ServerTimeouts = { headersMs: 60_000, requestMs: MAX_REQUEST_MS, handshakeMs: 30_000 };
/** Interval between checks for clients that have exceeded their timeouts. */
const CHECK_INTERVAL_MS = 30_000;
/** Maximum number of connections. Each one takes about 50 KiB. */
const MAX_CONNECTIONS = 10_000;
/**
 * Maximum number of open requests per HTTP/1.1 connection, because each of them is buffered. No client of the kubelet
 * sends a request before the response to the previous one.
 */
const MAX_PIPELINED_REQUESTS = 8;
/** Maximum number of open requests per HTTP/2 connection (`defaultMaxStreams` of `net/http` in Go). */
const MAX_STREAMS = 250;
/**
 * Memory that Node.js may use for an HTTP/2 connection, in megabytes. The default of 10 is not enough for the data that
 * 250 streams may have in flight.
 */
const SESSION_MEMORY_MB = 32;
/** Timeout for responses in progress when the server closes. */
const FINAL_RESPONSE_TIMEOUT_MS = 500;
/**
 * Time in milliseconds that a client has to read the response before the connection is closed, if the client is still
 * sending data (`rstAvoidanceDelay` of `net/http` in Go).
 */
const UNREAD_CLOSE_TIMEOUT_MS = 500;

/**
 * Offers HTTP/2 through ALPN. HTTP/1.1 remains available for clients without HTTP/2 and for upgrades, which HTTP/2 does
 * not support.
 */
const HTTP2_OPTIONS = {
  allowHTTP1: true,
  ALPNProtocols: ['h2', 'http/1.1'],
  settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_HEADER_BYTES },
  maxSessionMemory: SESSION_MEMORY_MB,
} satisfies SecureServerOptions;

const toServerOptions = ({ headersMs, requestMs, handshakeMs }: ServerTimeouts) => ({
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: IDLE_TIMEOUT_MS,
  headersTimeout: headersMs,
  requestTimeout: requestMs,
  insecureHTTPParser: false,
  keepAlive: true,
  noDelay: true,
  connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, headersMs, requestMs),
  handshakeTimeout: handshakeMs,
});

/** Listens on an address. Rejects if the address is not available. `0.0.0.0` also includes all IPv6 addresses. */
export async function serve(
  address: { readonly host: string; readonly port: number },
  options: ServeOptions,
): Promise<BoundServer> {
  const serverOptions = toServerOptions(options.timeouts ?? DEFAULT_TIMEOUTS);
  const server = options.tls
    ? createSecureServer({ ...serverOptions, ...HTTP2_OPTIONS, ...options.tls })
    : createServer(serverOptions);
  const maxConnections = connectionLimit(MAX_CONNECTIONS);
  guardConnections(server, { maxConnections, maxPerAddress: Math.ceil(maxConnections / 2) });
  const servedConnections = new ServedConnections(server, options);
  await listen(server, address);
  // Safe cast: a server that listens on an address has a port.
  const { port } = server.address() as AddressInfo;
  return { port, server, renew: () => servedConnections.renew(), close: () => servedConnections.close() };
}

async function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  const isUnspecified = isUnspecifiedIp(host);
  try {
    server.listen({ port, host: isUnspecified ? '::' : host });
    await once(server, 'listening');
  } catch (error) {
    if (!isUnspecified || !hasNoIpv6(error)) throw error;
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
  openRequests: number;
  /** Whether to close the connection as soon as it has no open requests. */
  isOutdated: boolean;
  /** Timer that closes an HTTP/2 connection without requests. Node.js only implements such a timeout for HTTP/1.1. */
  idleTimer?: unknown;
}

type IncomingRequest = IncomingMessage | Http2ServerRequest;

class ServedConnections {
  readonly #server: Server;
  readonly #options: ServeOptions;
  readonly #connections = new Map<Duplex, Connection>();
  readonly #sessions = new Map<object, Connection>();
  readonly #requestControllers = new Set<AbortController>();

  constructor(server: Server, options: ServeOptions) {
    this.#server = server;
    this.#options = options;
    server.on('tlsClientError', () => {});
    server.on('request', (request: IncomingRequest, response: ServerResponse | Http2ServerResponse) => {
      if (request instanceof Http2ServerRequest) this.#handleStream(request, response as Http2ServerResponse);
      else this.#handleRequest(request, response as ServerResponse);
    });
    server.on('upgrade', (request, socket, head) => this.#handleUpgrade(request, socket, head));
    let latestConnection: Connection | undefined;
    // Prepend the listener, because Node.js creates the HTTP/2 session synchronously in its own listener.
    server.prependListener(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => {
      latestConnection = this.#addConnection(socket);
    });
    server.on('session', (session: ServerHttp2Session) => {
      if (latestConnection !== undefined) this.#addSession(latestConnection, session);
    });
  }

  /** Closes idle connections immediately, and all other connections after the responses to their open requests. */
  renew(): void {
    for (const connection of this.#connections.values()) {
      connection.isOutdated = true;
      if (connection.openRequests === 0) connection.socket.destroy();
      // Send GOAWAY, so that the client opens no further streams.
      else connection.session?.close();
    }
  }

  async close(): Promise<void> {
    const closePromise = new Promise((resolve) => this.#server.close(resolve));
    this.renew();
    for (const end of this.#requestControllers) end.abort();
    const closeTimeLimit = startTimeLimit(FINAL_RESPONSE_TIMEOUT_MS);
    closeTimeLimit.signal.addEventListener('abort', () => {
      for (const socket of this.#connections.keys()) socket.destroy();
    });
    await closePromise;
    closeTimeLimit.clear();
  }

  #addConnection(socket: Socket): Connection {
    const connection: Connection = { socket, openRequests: 0, isOutdated: false };
    this.#connections.set(socket, connection);
    socket.once('close', () => this.#connections.delete(socket));
    return connection;
  }

  #addSession(connection: Connection, session: ServerHttp2Session): void {
    connection.session = session;
    this.#sessions.set(session, connection);
    this.#startIdleTimer(connection);
    session.once('close', () => {
      this.#sessions.delete(session);
      this.#options.clock.clearTimeout(connection.idleTimer);
    });
  }

  /**
   * Starts the idle timeout. As in Go, only the end of a request restarts it, so pings do not keep a connection open.
   */
  #startIdleTimer(connection: Connection): void {
    const { clock } = this.#options;
    clock.clearTimeout(connection.idleTimer);
    connection.idleTimer = clock.setTimeout(() => {
      if (connection.openRequests > 0) return;
      connection.session?.close();
      connection.socket.destroySoon();
    }, IDLE_TIMEOUT_MS);
  }

  #handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    // Handle the error and drain events of the socket here, because Node.js has detached the socket from the parser and
    // the response.
    socket.on('error', () => socket.destroy());
    socket.on('drain', () => response.emit('drain'));
    response.once('finish', () => socket.end());
    // Safe cast: the connection of a request is a Socket.
    response.assignSocket(socket as Socket);
    this.#handleRequest(request, response, { request, response, socket, head });
  }

  #handleRequest(request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined || connection.openRequests === MAX_PIPELINED_REQUESTS || isClosing(connection)) {
      stopParsing(request.socket);
      request.socket.destroy();
      return;
    }
    if (connection.isOutdated) response.shouldKeepAlive = false;
    if (upgrade === undefined) response.once('finish', () => closeUnreadConnection(request));
    this.#dispatch(connection, { request, response, upgrade });
  }

  #handleStream(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const { stream } = request;
    const connection = stream.session && this.#sessions.get(stream.session);
    if (connection === undefined || connection.openRequests === MAX_STREAMS || isClosing(connection)) {
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
      return;
    }
    stream.once('finish', () => void closeUnreadStream(stream));
    this.#dispatch(connection, { request, response, upgrade: undefined });
  }

  #dispatch(
    connection: Connection,
    { request, response, upgrade }: Pick<Parameters<typeof dispatch>[1], 'request' | 'response' | 'upgrade'>,
  ): void {
    const { clock, onRequest } = this.#options;
    connection.openRequests += 1;
    const requestController = new AbortController();
    this.#requestControllers.add(requestController);
    const isWebSocket = /\bwebsocket\b/i.test(request.headers.upgrade ?? '');
    const onRequestEnd = onRequest?.({ method: request.method ?? '', target: request.url ?? '', isWebSocket });
    const startedAt = clock.monotonic();
    // Apply the kubelet's write timeout, except to an upgraded connection, which has none.
    const timer = upgrade ? undefined : clock.setTimeout(() => response.destroy(), MAX_REQUEST_MS);
    (upgrade?.socket ?? response).once('close', () => {
      if (timer !== undefined) clock.clearTimeout(timer);
      connection.openRequests -= 1;
      if (isClosing(connection)) connection.socket.destroySoon();
      else if (connection.session !== undefined && connection.openRequests === 0) this.#startIdleTimer(connection);
      this.#requestControllers.delete(requestController);
      requestController.abort();
      onRequestEnd?.(clock.monotonic() - startedAt);
    });
    void dispatch(this.#options, {
      request,
      response,
      connection: connection.socket,
      signal: requestController.signal,
      upgrade,
    });
  }
}

const isClosing = ({ isOutdated, openRequests }: Connection): boolean => isOutdated && openRequests === 0;

/**
 * Closes a connection whose response did not need the whole request body, because the client may never send the rest.
 */
function closeUnreadConnection({ complete, socket }: IncomingMessage): void {
  if (complete || socket.destroyed) return;
  socket.end();
  const timeLimit = startTimeLimit(UNREAD_CLOSE_TIMEOUT_MS);
  timeLimit.signal.addEventListener('abort', () => socket.destroy());
  socket.once('close', () => timeLimit.clear());
}

/**
 * Closes a stream whose response is complete but whose request is not, as Go does. Otherwise the stream would stay open
 * if the client never sent the rest of a body that the response did not need. The reset waits for a turn of the event
 * loop, because nghttp2 would otherwise send it before the end of the response, and Go's client would treat the
 * response as broken.
 */
async function closeUnreadStream(stream: ServerHttp2Stream): Promise<void> {
  if (hasRequestEnded(stream)) return;
  await yieldToEventLoop();
  if (!hasRequestEnded(stream)) stream.close(constants.NGHTTP2_NO_ERROR);
}

const hasRequestEnded = (stream: ServerHttp2Stream): boolean => stream.closed || stream.state.remoteClose === 1;

/** Error code to return to the parser, which stops on any error. This one is llhttp's `HPE_PAUSED`. */
const PAUSED_ERRNO = 21;

/**
 * Stops Node.js from creating further requests from bytes that a closed connection has already received. It would
 * otherwise create hundreds per block of 16 KiB and retain them until the connection has closed, which takes gigabytes
 * with many connections. The parser has no public method for this, but stops if its `onIncoming` returns an error
 * (`parserOnHeadersComplete` in `lib/_http_common.js`). Node.js sets `onIncoming` again for the next connection.
 */
function stopParsing(socket: Duplex): void {
  const parser: unknown = Reflect.get(socket, 'parser');
  if (typeof parser === 'object' && parser !== null) Reflect.set(parser, 'onIncoming', () => PAUSED_ERRNO);
}
