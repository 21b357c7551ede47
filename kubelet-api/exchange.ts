/** Defines the authenticated and authorized requests that routes of the node's server handle. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Duplex, Readable, Writable } from 'node:stream';

/** The user who sent a request, as identified by the API server or by a client certificate. */
export interface Caller {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** The parts of a request that HTTP/1.1 and HTTP/2 have in common. */
export interface HttpRequest extends Readable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: string[];
}

/** The parts of a response that HTTP/1.1 and HTTP/2 have in common. */
export interface HttpResponse extends Writable {
  readonly headersSent: boolean;
  statusCode: number;
  setHeader(name: string, value: number | string | readonly string[]): unknown;
  /** Optional, because Node.js's types omit it for HTTP/2, although it exists. */
  flushHeaders?(): void;
  writeHead(code: number, headers?: OutgoingHttpHeaders): this;
}

/**
 * The connection of a request that upgrades to a different protocol, e.g. WebSocket. Only HTTP/1.1 supports upgrades.
 */
export interface Upgrade {
  readonly request: IncomingMessage;
  /** The response to send if the upgrade is refused. */
  readonly response: ServerResponse;
  readonly socket: Duplex;
  /** Bytes that arrived after the request's headers. */
  readonly head: Buffer;
}

export interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** The request's path and query. The host must be ignored, because it can be a placeholder. */
  readonly url: URL;
  readonly caller: Caller;
  /** Undefined if the client requests no upgrade. */
  readonly upgrade?: Upgrade;
  /** Aborts when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
}

/** A handler for a path and its subpaths. */
export interface Route {
  /** The path, e.g. `/containerLogs`. Subpaths are included. */
  readonly pathPrefix: string;
  /** Accepted methods. Undefined accepts all methods. */
  readonly methods?: readonly string[];
  /** Handles a request. A rejection results in a 500, or breaks the connection if the headers have been sent. */
  readonly handle: (exchange: Exchange) => Promise<void>;
}
