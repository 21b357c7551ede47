/** A request to the node's server, as whoever answers it has it: by then it is known who asks, and that they may. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Who asks, as the API server or a client certificate says. */
export interface Caller {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** The connection of a client that wants to speak another protocol over it. */
export interface Upgrade {
  readonly socket: Duplex;
  /** What has come after the request's headers. */
  readonly head: Buffer;
}

export interface Exchange {
  readonly request: IncomingMessage;
  /** Where an upgrade is asked for, for the answer of who refuses it. */
  readonly response: ServerResponse;
  /** Its path and query; the host says nothing. */
  readonly url: URL;
  readonly caller: Caller;
  /** Absent: none is asked for. */
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
