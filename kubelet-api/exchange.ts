/** A request to the node's server whose client is authenticated and authorized, as its route handles it. */
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Duplex, Readable, Writable } from 'node:stream';

/** Who asks, as the API server or a client certificate says. */
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
  /** The types of Node.js do not list it for HTTP/2, although it is there. */
  flushHeaders?(): void;
  writeHead(code: number, headers?: OutgoingHttpHeaders): this;
}

/** The connection of a client that requests another protocol over it. Only HTTP/1.1 has such requests. */
export interface Upgrade {
  readonly request: IncomingMessage;
  /** Carries a refusal of the upgrade. */
  readonly response: ServerResponse;
  readonly socket: Duplex;
  /** What has come after the request's headers. */
  readonly head: Buffer;
}

export interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** Its path and query; the host says nothing. */
  readonly url: URL;
  readonly caller: Caller;
  /** Undefined if the client requests no upgrade. */
  readonly upgrade?: Upgrade;
  /** Aborts when the client has gone, or the server ends. */
  readonly signal: AbortSignal;
}

/** A part of the server's paths. */
export interface Route {
  /** The path itself, and all below it: `/containerLogs`. */
  readonly tree: string;
  /** Absent: any. */
  readonly methods?: readonly string[];
  /** Answers: a rejection is a 500 if nothing was answered yet, else it cuts the connection. */
  readonly answer: (exchange: Exchange) => Promise<void>;
}
