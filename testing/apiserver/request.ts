/** What a test API server is asked, and what it answers, whatever carries them. */
import type { Forward } from './connect/forward.ts';
import type { JsonObject } from './json.ts';

export interface ApiRequest {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly url: string;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Bytes where its media type is of no text. */
  readonly body: string | Uint8Array;
  /** Who asks, where the connection says so; else it is told by its token. */
  readonly user?: User;
  /** The connection shows a certificate that nobody vouches for, or that has expired: a token still tells who it is. */
  readonly isDoubtful?: boolean;
}

/** An answer that is whole. */
export interface WholeAnswer {
  readonly code: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string | Buffer;
  /** Whoever carries it passes the request on to a node instead; in memory there is only the answer. */
  readonly forward?: Forward;
}

/** An answer that goes on: a watch, a line for each event. */
interface StreamedAnswer {
  readonly code: 200;
  readonly headers: ReadonlyMap<string, string>;
  /** Sends until it calls `end`, or `cut` where the connection breaks, or is stopped by the function that it returns. */
  readonly start: (send: (line: string) => void, end: () => void, cut: () => void) => () => void;
}

export type Answer = WholeAnswer | StreamedAnswer;

/** Who asks. */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: ReadonlyMap<string, readonly string[]>;
}

/** What a handler has to say: an object with its code, and warnings for the client. */
export interface Outcome {
  readonly code: number;
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}
