/** The HTTP server of the page, which is read-only. */
import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../base/clock.ts';
import { type FailureReason, messageOf, NodeFailure } from '../base/failure.ts';
import { startLimit } from '../base/limit.ts';
import { unlessAborted } from '../base/unlessAborted.ts';
import { guardConnections } from '../host/connectionGuard.ts';
import { errorCode } from '../host/files/fileErrors.ts';
import { failure } from '../socket/status.ts';
import { refusalOf, SECURITY_HEADERS, tokenCookie } from './access.ts';
import { authorityOf, type InspectAddress } from './address.ts';
import type { Inspected } from './inspected.ts';
import { LiveText } from './liveText.ts';
import { pageAnswer } from './routes.ts';
import { Viewers } from './viewers.ts';

interface Options {
  readonly address: InspectAddress;
  /** Called on the first request. */
  readonly inspected: () => Promise<Inspected>;
  /** The directory that the build wrote the page to. */
  readonly directory: string;
  /** Required from every client. Undefined opens the page to every client that reaches the address. */
  readonly token: string | undefined;
  /** The file that contains the link with the token, if there is one. */
  readonly linkFile?: string | undefined;
  /** A certificate with its key, as PEM. Undefined serves plain HTTP. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** The name of this host in the link. The default is the address. */
  readonly name?: string | undefined;
  /** Called with an error that prevents a response and that no other code reports. */
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
}

/** The page's server, until it is closed. */
export interface PageServer {
  /** The link to the page, including the token. */
  readonly url: string;
  close(): Promise<void>;
}

/** Where other inspectors find the actors, in Stately's protocol. */
const STATELY_PATH = '/stately';
/** More connections than the browsers that show the page need at a time. */
const MAX_CONNECTIONS = 64;
/** How long a request may take to come, in milliseconds: it is a line and some headers. */
const REQUEST_MS = 10_000;
/** How long an answer may take to be read, in milliseconds. */
const ANSWER_MS = 30_000;
/** How long answers that are on their way may take once the server closes, in milliseconds. */
const LAST_ANSWER_MS = 200;
/** How long what is shown may take to be closed, in milliseconds. */
const LAST_WORK_MS = 1_000;

/** Starts the server; rejects with a `NodeFailure` if it cannot listen on the address. */
export async function servePage(options: Options): Promise<PageServer> {
  const { address, tls, token, name = address.host } = options;
  const limits = { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS };
  // Renegotiation lets a client consume the CPU of the node without sending a request.
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
  const server = tls ? createTlsServer({ ...tls, ...limits, secureOptions }) : createServer(limits);
  guardConnections(server, { maxConnections: MAX_CONNECTIONS });
  await listen(server, address);
  // One that listens on a port has an address.
  const { port } = server.address() as AddressInfo;
  const scheme = tls ? 'https' : 'http';
  const served = new Served({ ...options, address: { host: address.host, port }, scheme });
  const upgraded = attach(server, served);
  return {
    url: `${scheme}://${authorityOf({ host: name, port })}/${token === undefined ? '' : `?token=${token}`}`,
    close: async () => {
      served.end();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const patience = startLimit(LAST_ANSWER_MS);
      patience.signal.addEventListener('abort', () => {
        server.closeAllConnections();
        // The server knows those no more that it has given away.
        for (const connection of upgraded) connection.destroy();
      });
      await Promise.all([served.close(), closed]);
      patience.end();
    },
  };
}

/** Gives what comes in to what is served, and the connections that it has given away. */
function attach(server: Server, served: Served): ReadonlySet<Duplex> {
  const upgraded = new Set<Duplex>();
  // A connection that cannot be accepted is no reason for the node to end.
  server.on('error', () => {});
  server.on('request', (request, response) => {
    served.handle(request, response).catch(() => response.destroy());
  });
  server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
    upgraded.add(connection);
    connection.on('close', () => upgraded.delete(connection));
    served.upgrade(request, connection, head).catch(() => connection.destroy());
  });
  return upgraded;
}

async function listen(server: Server, { host, port }: InspectAddress): Promise<void> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new NodeFailure('InspectAddressUnusable', whyNotListening({ host, port }, cause), { cause });
  }
}

/** Describes why the server cannot listen, in plain words for the errors that users cause. */
function whyNotListening(address: InspectAddress, cause: unknown): string {
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

interface ServedParts extends Options {
  readonly scheme: 'http' | 'https';
}

/** What is served, which nobody has made before somebody looks. */
class Served {
  readonly #parts: ServedParts;
  readonly #clock: Clock;
  #inspected: Promise<Shown> | undefined;
  #viewers: Viewers | undefined;
  /** The timers of those who are to read their answers. */
  readonly #patience = new Set<unknown>();

  constructor(parts: ServedParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? systemClock;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    await this.#respond(request, response);
    if (response.writableEnded && !response.writableFinished) this.#expectRead(request, response);
  }

  /** Other inspectors follow the actors over a WebSocket. */
  async upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    connection.on('error', () => {});
    const refused = refusalOf(request, this.#parts);
    const isAsked = !refused && urlOf(request)?.pathname === STATELY_PATH;
    const stately = isAsked ? (await this.#seen()).inspected.stately : undefined;
    if (stately === undefined) {
      const headers = Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
      const text = `HTTP/1.1 ${refused?.code ?? 404} Refused\r\n${headers.join('')}connection: close\r\n\r\n`;
      // The other side may keep its half open.
      connection.end(text, () => connection.destroy());
    } else stately(request, connection, head);
  }

  /** Ends what goes on by itself. */
  end(): void {
    this.#viewers?.close();
    for (const patience of this.#patience) this.#clock.clearTimeout(patience);
  }

  /** What takes too long, or is not even made, is left to itself: the end of the agent waits for nobody who looks. */
  async close(): Promise<void> {
    const patience = startLimit(LAST_WORK_MS);
    const ended = this.#inspected?.then(({ inspected }) => inspected.close());
    await unlessAborted(Promise.resolve(ended), patience.signal).catch(() => {});
    patience.end();
  }

  #seen(): Promise<Shown> {
    const { inspected } = this.#parts;
    this.#inspected ??= inspected().then(
      (made) => ({ inspected: made, live: made.live && new LiveText(made.live, this.#clock) }),
      (error: unknown) => {
        // Whoever looks next may have more luck.
        this.#inspected = undefined;
        throw error;
      },
    );
    return this.#inspected;
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { token } = this.#parts;
    const refused = refusalOf(request, this.#parts);
    const url = urlOf(request);
    if (refused) return refuse(response, refused.code, refused.message);
    if (url === null) return refuse(response, 400, 'the request names no path');
    if (token !== undefined && url.searchParams.has('token'))
      return moveToken(response, url, tokenCookie(token, this.#parts));
    try {
      await this.#answer(url, request, response);
    } catch (error) {
      refuse(response, 500, messageOf(error));
    }
  }

  async #answer(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { directory } = this.#parts;
    const { inspected, live } = await this.#seen();
    if (url.pathname === '/api/stream') return this.#stream(live, request, response);
    const client = new AbortController();
    response.once('close', () => client.abort());
    const { code, type, body } = await pageAnswer({ inspected, live, directory, signal: client.signal }, url);
    response.writeHead(code, { 'content-type': type });
    response.end(body);
  }

  #stream(live: LiveText | undefined, request: IncomingMessage, response: ServerResponse): void {
    if (live === undefined) {
      refuse(response, 400, 'a recording does not go on');
      return;
    }
    const { onError = () => {} } = this.#parts;
    this.#viewers ??= new Viewers({ live, clock: this.#clock, onError });
    const why = this.#viewers.add(request, response);
    if (why !== undefined) refuse(response, 403, why);
  }

  /** Whoever does not read what was asked for holds a connection that others could have. */
  #expectRead({ socket }: IncomingMessage, response: ServerResponse): void {
    const patience = this.#clock.setTimeout(() => {
      this.#patience.delete(patience);
      // An answer that waits for another one is not told of its end.
      socket.destroy();
    }, ANSWER_MS);
    this.#patience.add(patience);
    response.once('close', () => {
      this.#patience.delete(patience);
      this.#clock.clearTimeout(patience);
    });
  }
}

/** What is shown, and what of it goes on as text. */
interface Shown {
  readonly inspected: Inspected;
  readonly live: LiveText | undefined;
}

/** As a path on this server: `//name/path` is one too. */
const urlOf = ({ url = '/' }: IncomingMessage): URL | null => URL.parse(url.replace(/^\/+/, '/'), 'http://page');

const REASONS: ReadonlyMap<number, FailureReason> = new Map([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [405, 'MethodNotAllowed'],
]);

function refuse(response: ServerResponse, code: number, message: string): void {
  const body = JSON.stringify(failure(code, REASONS.get(code) ?? 'InternalError', message));
  response.writeHead(code, { 'content-type': 'application/json', ...(code === 405 ? { allow: 'GET' } : {}) });
  response.end(body);
}

/** Moves the token from the URL, which browsers show and remember, into the browser's cookie. */
function moveToken(response: ServerResponse, url: URL, cookie: string): void {
  response.setHeader('set-cookie', cookie);
  url.searchParams.delete('token');
  // A location that starts with two slashes would lead to another host.
  response.writeHead(303, { location: `${url.pathname.replace(/^\/+/, '/')}${url.search}` });
  response.end();
}
