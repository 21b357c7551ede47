/** Serves HTTP/1.1, within limits that a client that is slow or means harm does not get past. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../actors/clock.ts';
import { affordableConnections, guardConnections } from '../../host/connectionGuard.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import { startLimit } from '../../host/limit.ts';
import { isUnspecifiedIp } from '../../pod/ipAddress.ts';
import type { Upgrade } from '../exchange.ts';
import { type Dispatched, dispatch } from './dispatch.ts';
import { stopParsing } from './stopParsing.ts';

/** Told of a request as it comes; the function that it gives is called once that is done with, after so many milliseconds. */
export type RequestListener = (request: { readonly method: string; readonly target: string }) => (ms: number) => void;

interface Options extends Dispatched {
  readonly clock: Clock;
  readonly onRequest?: RequestListener | undefined;
  /** Absent: without TLS. */
  readonly tls?: ServerOptions;
  readonly patience?: Patience;
}

/** How long a client may take, in milliseconds. */
interface Patience {
  /** For the headers of a request. */
  readonly headersMs: number;
  readonly handshakeMs: number;
}

export interface Bound {
  readonly port: number;
  readonly server: Server;
  /** From now on its clients have to connect anew. */
  renew(): void;
  close(): Promise<void>;
}

/** Those of `ListenAndServeKubeletServer` in `pkg/kubelet/server/server.go`; a request's headers have it less patient here. */
const HEADER_BYTES = 1 << 20;
const IDLE_MS = 90_000;
const LONGEST_MS = 4 * 60 * 60_000;
const PATIENCE: Patience = { headersMs: 60_000, handshakeMs: 30_000 };
/** So often it is looked who takes longer. */
const LOOK_MS = 30_000;
/** Each connection takes about 50 KiB. */
const MAX_CONNECTIONS = 10_000;
/** Nobody who asks a kubelet sends requests before it has answered: each would have to be kept. */
const MOST_AT_A_TIME = 8;
/** How long answers that are on their way may take once the server closes. */
const LAST_ANSWER_MS = 500;
/** Whoever goes on sending after the answer may read that first (`rstAvoidanceDelay` of `net/http` in Go). */
const FAREWELL_MS = 500;

const limitsOf = ({ headersMs, handshakeMs }: Patience) =>
  ({
    ...{
      maxHeaderSize: HEADER_BYTES,
      keepAliveTimeout: IDLE_MS,
      headersTimeout: headersMs,
      requestTimeout: LONGEST_MS,
    },
    ...{ insecureHTTPParser: false, keepAlive: true, noDelay: true },
    connectionsCheckingInterval: Math.min(LOOK_MS, headersMs),
    // A client of its own certificate authority is known by it alone: nothing is offered by ALPN.
    ...{ ALPNProtocols: [], handshakeTimeout: handshakeMs },
  }) satisfies ServerOptions;

/** Listens, and rejects if the address is not available. All IPv4 addresses include all IPv6 addresses. */
export async function serve(
  address: { readonly host: string; readonly port: number },
  options: Options,
): Promise<Bound> {
  const limits = limitsOf(options.patience ?? PATIENCE);
  const server = options.tls ? createTlsServer({ ...limits, ...options.tls }) : createServer(limits);
  const maxConnections = affordableConnections(MAX_CONNECTIONS);
  guardConnections(server, { maxConnections, maxPerAddress: Math.ceil(maxConnections / 2) });
  const served = new Served(server, options);
  await listen(server, address);
  // It listens at an address, which has a port.
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

/** As of a kernel without it. */
const hasNoIpv6 = (error: unknown): boolean =>
  ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'].includes(errorCode(error) ?? '');

/** A connection: how many of its requests are open, and whether it was made before the last change. */
interface Connection {
  open: number;
  isOutdated: boolean;
}

class Served {
  readonly #server: Server;
  readonly #options: Options;
  readonly #connections = new Map<Duplex, Connection>();
  readonly #ends = new Set<AbortController>();

  constructor(server: Server, options: Options) {
    this.#server = server;
    this.#options = options;
    server.on('tlsClientError', () => {});
    server.on('request', (request, response) => this.#take(request, response, undefined));
    server.on('upgrade', (request, socket, head) => this.#takeUpgrade(request, socket, head));
    server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => this.#know(socket));
  }

  /** Whoever is idle is closed, as it would be for being idle; each other one once it is answered. */
  renew(): void {
    for (const connection of this.#connections.values()) connection.isOutdated = true;
    for (const [socket, { open }] of this.#connections) if (open === 0) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    for (const end of this.#ends) end.abort();
    const patience = startLimit(LAST_ANSWER_MS);
    patience.signal.addEventListener('abort', () => {
      this.#server.closeAllConnections();
      for (const socket of this.#connections.keys()) socket.destroy();
    });
    await closed;
    patience.end();
  }

  #know(socket: Socket): void {
    this.#connections.set(socket, { open: 0, isOutdated: false });
    socket.once('close', () => this.#connections.delete(socket));
  }

  #takeUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    // Node has let go of the connection: nobody else would hear of its errors, or tell when there is room again.
    socket.on('error', () => socket.destroy());
    socket.on('drain', () => response.emit('drain'));
    response.once('finish', () => socket.end());
    // What upgrades is the connection of the request.
    response.assignSocket(socket as Socket);
    this.#take(request, response, { socket, head });
  }

  #told({ method = '', url = '' }: IncomingMessage): (() => void) | undefined {
    const { clock, onRequest } = this.#options;
    const done = onRequest?.({ method, target: url });
    const begunAt = clock.monotonic();
    return done && (() => done(clock.monotonic() - begunAt));
  }

  #take(request: IncomingMessage, response: ServerResponse, upgrade: Upgrade | undefined): void {
    const connection = this.#connections.get(request.socket);
    if (
      connection === undefined ||
      connection.open === MOST_AT_A_TIME ||
      (connection.isOutdated && connection.open === 0)
    ) {
      stopParsing(request.socket);
      request.socket.destroy();
      return;
    }
    if (connection.isOutdated) response.shouldKeepAlive = false;
    connection.open += 1;
    const end = new AbortController();
    this.#ends.add(end);
    const { clock } = this.#options;
    const told = this.#told(request);
    // A kubelet's time to write is over then; what was upgraded has its own.
    const timer = upgrade ? undefined : clock.setTimeout(() => response.destroy(), LONGEST_MS);
    const closed = () => {
      if (timer !== undefined) clock.clearTimeout(timer);
      connection.open -= 1;
      if (connection.isOutdated && connection.open === 0) request.socket.destroySoon();
      this.#ends.delete(end);
      end.abort();
      told?.();
    };
    (upgrade?.socket ?? response).once('close', closed);
    if (upgrade === undefined) response.once('finish', () => leaveUnread(request));
    void dispatch(this.#options, { request, response, signal: end.signal, ...(upgrade ? { upgrade } : {}) });
  }
}

/** Nobody waits for the rest of a body that the answer did not need: it may never come. */
function leaveUnread({ complete, socket }: IncomingMessage): void {
  if (complete || socket.destroyed) return;
  socket.end();
  const limit = startLimit(FAREWELL_MS);
  limit.signal.addEventListener('abort', () => socket.destroy());
  socket.once('close', () => limit.end());
}
