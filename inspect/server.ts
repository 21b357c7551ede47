/** Serves the page, to read only. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { startLimit } from '../host/limit.ts';
import { type FailureReason, messageOf, NodeFailure } from '../pod/failure.ts';
import { failure } from '../server/status.ts';
import { refusalOf, SECURITY_HEADERS, tokenCookie } from './access.ts';
import { authorityOf, type InspectAddress } from './address.ts';
import type { Inspected, Live } from './inspected.ts';
import type { Frame } from './protocol.ts';
import { pageAnswer } from './routes.ts';
import { eventText, Viewer } from './viewer.ts';

interface Options {
  readonly address: InspectAddress;
  /** Made when somebody looks for the first time. */
  readonly inspected: () => Promise<Inspected>;
  /** Where the build has left the page. */
  readonly directory: string;
  /** Whoever is to look has to have it; absent: everyone who reaches the address may. */
  readonly token?: string | undefined;
  /** A certificate with its key, as PEM; absent: without TLS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
}

/** The page's server, until it is closed. */
export interface PageServer {
  /** Where to look. */
  readonly url: string;
  close(): Promise<void>;
}

/** Where other inspectors find the actors, in Stately's protocol. */
const STATELY_PATH = '/stately';
/** So many may look at a time. */
const MOST_VIEWERS = 16;
/** How long answers that are on their way may take once the server closes, in milliseconds. */
const LAST_ANSWER_MS = 200;

/** Begins to serve; rejects with a reason where the address cannot be had. */
export async function servePage(options: Options): Promise<PageServer> {
  const { address, tls, token } = options;
  const server = tls ? createTlsServer(tls) : createServer();
  await listen(server, address);
  // One that listens on a port has an address.
  const { port } = server.address() as AddressInfo;
  const served = new Served({ ...options, address: { host: address.host, port }, scheme: tls ? 'https' : 'http' });
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
  return {
    url: `${tls ? 'https' : 'http'}://${authorityOf({ host: address.host, port })}/${token === undefined ? '' : `?token=${token}`}`,
    close: async () => {
      served.end();
      const closed = once(server, 'close');
      server.close();
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

async function listen(server: Server, { host, port }: InspectAddress): Promise<void> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new NodeFailure(
      'InspectAddressUnusable',
      `--inspect-address ${authorityOf({ host, port })}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

interface ServedParts extends Options {
  readonly scheme: 'http' | 'https';
}

/** What is served, which nobody has made before somebody looks. */
class Served {
  readonly #parts: ServedParts;
  #inspected: Promise<Inspected> | undefined;
  #viewers: Viewers | undefined;

  constructor(parts: ServedParts) {
    this.#parts = parts;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    const { token } = this.#parts;
    const refused = refusalOf(request, this.#parts);
    const url = urlOf(request);
    if (refused) return refuse(response, refused.code, refused.message);
    if (url === null) return refuse(response, 400, 'the request names no path');
    if (token !== undefined && url.searchParams.has('token')) return keepToken(response, url, token);
    try {
      await this.#answer(url, response);
    } catch (error) {
      refuse(response, 500, messageOf(error));
    }
  }

  /** Other inspectors follow the actors over a WebSocket. */
  async upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): Promise<void> {
    connection.on('error', () => {});
    const refused = refusalOf(request, this.#parts);
    const { stately } = refused || urlOf(request)?.pathname !== STATELY_PATH ? {} : await this.#seen();
    if (stately === undefined) {
      const headers = Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
      connection.end(`HTTP/1.1 ${refused?.code ?? 404} Refused\r\n${headers.join('')}connection: close\r\n\r\n`);
    } else stately(request, connection, head);
  }

  /** Ends what goes on by itself. */
  end(): void {
    this.#viewers?.close();
  }

  async close(): Promise<void> {
    await (await this.#inspected?.catch(() => undefined))?.close();
  }

  #seen(): Promise<Inspected> {
    this.#inspected ??= this.#parts.inspected().catch((error: unknown) => {
      // Whoever looks next may have more luck.
      this.#inspected = undefined;
      throw error;
    });
    return this.#inspected;
  }

  async #answer(url: URL, response: ServerResponse): Promise<void> {
    const { directory } = this.#parts;
    const inspected = await this.#seen();
    if (url.pathname === '/api/stream') {
      this.#viewers ??= new Viewers(inspected.live);
      return this.#viewers.add(response);
    }
    const { code, type, body } = await pageAnswer({ inspected, directory }, url);
    response.writeHead(code, { 'content-type': type });
    response.end(body);
  }
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

/** From now on the browser has it: it is not to stay in the URL. */
function keepToken(response: ServerResponse, url: URL, token: string): void {
  response.setHeader('set-cookie', tokenCookie(token));
  url.searchParams.delete('token');
  // What begins with two slashes would lead to another host.
  response.writeHead(303, { location: `${url.pathname.replace(/^\/+/, '/')}${url.search}` });
  response.end();
}

/** All who look at what goes on. */
class Viewers {
  readonly #live: Live | undefined;
  readonly #viewers = new Map<Viewer, ServerResponse>();
  #leave: (() => void) | undefined;

  constructor(live: Live | undefined) {
    this.#live = live;
  }

  add(response: ServerResponse): void {
    const live = this.#live;
    if (live === undefined) {
      refuse(response, 400, 'a recording does not go on');
      return;
    }
    // Whoever has gone while the answer was made is not told so again.
    if (response.closed) return;
    if (this.#viewers.size >= MOST_VIEWERS) {
      refuse(response, 403, `${MOST_VIEWERS} are looking already`);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    this.#leave ??= live.follow((frame) => this.#tell(frame));
    const viewer = new Viewer(response, () => live.snapshot());
    this.#viewers.set(viewer, response);
    response.on('close', () => this.#remove(viewer));
  }

  close(): void {
    for (const [viewer, response] of this.#viewers) {
      response.end();
      this.#remove(viewer);
    }
  }

  /** Written out once, for all. */
  #tell(frame: Frame): void {
    const text = eventText('frame', JSON.stringify(frame));
    for (const viewer of this.#viewers.keys()) viewer.send(text);
  }

  #remove(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    if (this.#viewers.size > 0) return;
    this.#leave?.();
    this.#leave = undefined;
  }
}
