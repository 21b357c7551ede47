/** Serves the inspection page over HTTP. The page is read-only. */
import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { unlessAborted } from '../base/async/unlessAborted.ts';
import { type FailureReason, messageOf, NodeFailure } from '../base/failure.ts';
import { type Clock, systemClock } from '../base/time/clock.ts';
import { startTimeLimit } from '../base/time/timeLimit.ts';
import { guardConnections } from '../host/connectionGuard.ts';
import { errorCode } from '../host/files/fileErrors.ts';
import { Secret } from '../host/secret.ts';
import { createTokenMatcher } from '../host/tokenMatcher.ts';
import { failureStatus } from '../socket/status.ts';
import { checkAccess, SECURITY_HEADERS, tokenCookie } from './access.ts';
import { authorityOf, type InspectAddress } from './address.ts';
import type { InspectedNode } from './inspected.ts';
import { LiveText } from './live/liveText.ts';
import { Viewers } from './live/viewers.ts';
import { respondToPage } from './routes.ts';

interface PageServerOptions {
  readonly address: InspectAddress;
  /** Opens the node or the recording that the page shows. Called on the first request. */
  readonly openInspectedNode: () => Promise<InspectedNode>;
  /** The output directory of the page's build. */
  readonly directory: string;
  /**
   * The token that every client must send. If undefined, the page is open to every client that can reach the address.
   */
  readonly token: string | undefined;
  /** The file that contains the link with the token, if there is one. */
  readonly linkFile?: string | undefined;
  /** A certificate and its key in PEM. If undefined, the page is served over plain HTTP. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** The host name in the link. The default is the address. */
  readonly name?: string | undefined;
  /** Timeout for receiving a request, in milliseconds. The default is ten seconds. */
  readonly requestTimeoutMs?: number;
  /** Called with errors that interrupt a viewer's stream. */
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
}

export interface PageServer {
  /** The link to the page, including the token. */
  readonly url: string;
  close(): Promise<void>;
}

/** Path at which external inspectors connect with Stately's protocol. */
const STATELY_PATH = '/stately';
/** Maximum number of connections. This is more than enough for several browsers that show the page. */
const MAX_CONNECTIONS = 64;
/**
 * Maximum number of connections from one address. This is enough for a browser, which opens up to six connections for
 * requests and one stream per tab.
 */
const MAX_CONNECTIONS_PER_ADDRESS = 32;
const REQUEST_TIMEOUT_MS = 10_000;
/** Interval between checks for clients that have exceeded the request timeout. */
const CHECK_INTERVAL_MS = 5_000;
/** Timeout for a client to read a response, in milliseconds. */
const RESPONSE_TIMEOUT_MS = 30_000;
/** Timeout for responses in progress when the server closes, in milliseconds. */
const SHUTDOWN_TIMEOUT_MS = 200;
/** Timeout for closing the inspected node, in milliseconds. */
const CLOSE_TIMEOUT_MS = 1_000;

/** Starts the server. Rejects with a `NodeFailure` if it cannot listen on the address. */
export async function servePage(options: PageServerOptions): Promise<PageServer> {
  const { token, ...others } = options;
  const { address, tls, name = address.host, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  // Store the token outside of the V8 heap, because a heap snapshot would otherwise reveal it.
  const secret = token === undefined ? undefined : new Secret(token);
  const isToken = token === undefined ? undefined : createTokenMatcher(token);
  const timeLimits = {
    headersTimeout: requestTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, requestTimeoutMs),
  };
  // Forbid renegotiation, because it would allow a client to consume CPU time without sending a request.
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
  const server = tls ? createTlsServer({ ...tls, ...timeLimits, secureOptions }) : createServer(timeLimits);
  guardConnections(server, { maxConnections: MAX_CONNECTIONS, maxPerAddress: MAX_CONNECTIONS_PER_ADDRESS });
  await listen(server, address);
  // Safe cast: a server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo;
  const scheme = tls ? 'https' : 'http';
  const requestHandler = new RequestHandler({
    ...others,
    address: { host: address.host, port },
    scheme,
    secret,
    isToken,
  });
  const upgradedConnections = attachHandlers(server, requestHandler);
  return {
    get url() {
      return `${scheme}://${authorityOf({ host: name, port })}/${secret === undefined ? '' : `?token=${secret.read()}`}`;
    },
    close: async () => {
      requestHandler.stop();
      const serverClosed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const timeLimit = startTimeLimit(SHUTDOWN_TIMEOUT_MS);
      timeLimit.signal.addEventListener('abort', () => {
        server.closeAllConnections();
        // Destroy upgraded connections as well, because `closeAllConnections` does not close them.
        for (const connection of upgradedConnections) connection.destroy();
      });
      await Promise.all([requestHandler.close(), serverClosed]);
      timeLimit.clear();
    },
  };
}

/** Attaches the request handlers. Returns the set of upgraded connections that are open. */
function attachHandlers(server: Server, requestHandler: RequestHandler): ReadonlySet<Duplex> {
  const upgradedConnections = new Set<Duplex>();
  // Ignore the error, because a failure to accept a connection must not stop the node.
  server.on('error', () => {});
  server.on('request', (request, response) => {
    requestHandler.handle(request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    upgradedConnections.add(connection);
    connection.on('close', () => upgradedConnections.delete(connection));
    requestHandler.upgrade(request, connection, head).catch(() => connection.destroy());
  });
  return upgradedConnections;
}

async function listen(server: Server, { host, port }: InspectAddress): Promise<void> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new NodeFailure('InspectAddressUnusable', listenErrorMessage({ host, port }, cause), { cause });
  }
}

/** Describes why the server cannot listen. Uses plain language for errors that users can fix. */
function listenErrorMessage(address: InspectAddress, cause: unknown): string {
  const { host, port } = address;
  switch (errorCode(cause)) {
    case 'EADDRINUSE':
      return `port ${port} of ${host} is in use by another process`;
    case 'EADDRNOTAVAIL':
      return `${host} is not an address of this host`;
    case 'EACCES':
      return `port ${port} of ${host} is reserved for root`;
    default:
      return `cannot listen on ${authorityOf(address)}: ${messageOf(cause)}`;
  }
}

interface HandlerOptions extends Omit<PageServerOptions, 'token'> {
  readonly scheme: 'http' | 'https';
  readonly secret: Secret | undefined;
  readonly isToken: ((candidate: string) => boolean) | undefined;
}

/** Handles requests. Opens the inspected node on the first request. */
class RequestHandler {
  readonly #options: HandlerOptions;
  readonly #clock: Clock;
  #openedNode: Promise<OpenedNode> | undefined;
  #viewers: Viewers | undefined;
  /** The timers that limit how long clients may take to read responses. */
  readonly #readTimers = new Set<unknown>();

  constructor(options: HandlerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    await this.#respond(request, response);
    if (response.writableEnded && !response.writableFinished) this.#limitReadTime(request, response);
  }

  /** Accepts the WebSocket of an external inspector. */
  async upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    connection.on('error', () => {});
    const refusal = checkAccess(request, this.#options);
    const isStatelyRequest = !refusal && parseUrl(request)?.pathname === STATELY_PATH;
    const stately = isStatelyRequest ? (await this.openNodeOnce()).inspectedNode.acceptStately : undefined;
    if (stately === undefined) {
      const headers = Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
      const responseText = `HTTP/1.1 ${refusal?.code ?? 404} Refused\r\n${headers.join('')}connection: close\r\n\r\n`;
      // Destroy the connection even if the client does not close its side.
      connection.end(responseText, () => connection.destroy());
    } else stately(request, connection, head);
  }

  /** Closes the streams and clears the timers. */
  stop(): void {
    this.#viewers?.close();
    for (const timer of this.#readTimers) this.#clock.clearTimeout(timer);
  }

  /** Closes the inspected node. Waits only for a limited time, because viewers must not delay the exit of the agent. */
  async close(): Promise<void> {
    const closeTimeLimit = startTimeLimit(CLOSE_TIMEOUT_MS);
    const nodeClosed = this.#openedNode?.then(({ inspectedNode }) => inspectedNode.close());
    await unlessAborted(Promise.resolve(nodeClosed), closeTimeLimit.signal).catch(() => {});
    closeTimeLimit.clear();
  }

  openNodeOnce(): Promise<OpenedNode> {
    const { openInspectedNode } = this.#options;
    this.#openedNode ??= openInspectedNode().then(
      (opened) => ({ inspectedNode: opened, live: opened.live && new LiveText(opened.live, this.#clock) }),
      (error: unknown) => {
        // Clear the failed attempt, so that the next request tries again to open the node.
        this.#openedNode = undefined;
        throw error;
      },
    );
    return this.#openedNode;
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { secret } = this.#options;
    const refusal = checkAccess(request, this.#options);
    const url = parseUrl(request);
    if (refusal) return sendError(response, refusal.code, refusal.message);
    if (url === null) return sendError(response, 400, 'the request names no path');
    if (secret !== undefined && url.searchParams.has('token'))
      return redirectWithCookie(response, url, tokenCookie(secret.read(), this.#options));
    try {
      await this.#sendPage(url, request, response);
    } catch (error) {
      sendError(response, 500, messageOf(error));
    }
  }

  async #sendPage(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { directory } = this.#options;
    const { inspectedNode, live } = await this.openNodeOnce();
    if (url.pathname === '/api/stream') return this.streamLiveUpdates(live, request, response);
    const clientAbort = new AbortController();
    response.once('close', () => clientAbort.abort());
    const { code, type, body } = await respondToPage(
      { inspectedNode, live, directory, signal: clientAbort.signal },
      url,
    );
    response.writeHead(code, { 'content-type': type });
    response.end(body);
  }

  streamLiveUpdates(live: LiveText | undefined, request: IncomingMessage, response: ServerResponse): void {
    if (live === undefined) {
      sendError(response, 400, 'a recording does not go on');
      return;
    }
    const { onError = () => {} } = this.#options;
    this.#viewers ??= new Viewers({ live, clock: this.#clock, onError });
    const refusalReason = this.#viewers.add(request, response);
    if (refusalReason !== undefined) sendError(response, 403, refusalReason);
  }

  /** Disconnects a client that does not read its response, because such a client occupies a connection. */
  #limitReadTime({ socket }: IncomingMessage, response: ServerResponse): void {
    const readTimer = this.#clock.setTimeout(() => {
      this.#readTimers.delete(readTimer);
      // Destroy the socket instead of the response, because destroying a pipelined response that is not yet being sent
      // emits no event.
      socket.destroy();
    }, RESPONSE_TIMEOUT_MS);
    this.#readTimers.add(readTimer);
    response.once('close', () => {
      this.#readTimers.delete(readTimer);
      this.#clock.clearTimeout(readTimer);
    });
  }
}

/** The inspected node, and its serialized updates if it is running. */
interface OpenedNode {
  readonly inspectedNode: InspectedNode;
  readonly live: LiveText | undefined;
}

/** Parses the request's URL as a path on this server, even if it looks like `//host/path`. */
const parseUrl = ({ url = '/' }: IncomingMessage): URL | null => URL.parse(url.replace(/^\/+/, '/'), 'http://page');

const REASONS_BY_CODE: ReadonlyMap<number, FailureReason> = new Map([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [405, 'MethodNotAllowed'],
]);

function sendError(response: ServerResponse, code: number, message: string): void {
  const body = JSON.stringify(failureStatus(code, REASONS_BY_CODE.get(code) ?? 'InternalError', message));
  response.writeHead(code, { 'content-type': 'application/json', ...(code === 405 ? { allow: 'GET' } : {}) });
  response.end(body);
}

/**
 * Stores the token in a cookie and redirects to the URL without it, because browsers display URLs and store them in
 * their history.
 */
function redirectWithCookie(response: ServerResponse, url: URL, cookie: string): void {
  response.setHeader('set-cookie', cookie);
  url.searchParams.delete('token');
  // Remove leading slashes, because a location that starts with `//` would redirect to a different host.
  response.writeHead(303, { location: `${url.pathname.replace(/^\/+/, '/')}${url.search}` });
  response.end();
}
