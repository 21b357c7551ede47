/** Requests and responses of the API server, independent of the transport. */
import type { Forward } from '../connect/forward.ts';
import type { JsonObject } from '../json.ts';

export interface ApiRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  /** Keyed by lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Bytes for a binary media type. */
  readonly body: string | Uint8Array;
  /** The user, if the connection authenticates it. Otherwise its token does. */
  readonly user?: User;
  /**
   * The connection has a client certificate that is not trusted or has expired. A token can still authenticate the
   * user.
   */
  readonly hasInvalidCertificate?: boolean;
}

/** A complete response. */
export interface CompleteResponse {
  readonly code: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string | Buffer;
  /** If set, the transport forwards the request to a node. In memory, the response itself is used. */
  readonly forward?: Forward;
}

/** A watch, with a line per event. */
interface StreamedResponse {
  readonly code: 200;
  readonly headers: ReadonlyMap<string, string>;
  /** Sends lines until it calls `end` or, for a broken connection, `cut`, or until the returned function is called. */
  readonly start: (send: (line: string) => void, end: () => void, cut: () => void) => () => void;
}

export type ApiResponse = CompleteResponse | StreamedResponse;

export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: ReadonlyMap<string, readonly string[]>;
}

/** The result of a handler: an object with its status code, and warnings for the client. */
export interface Outcome {
  readonly code: number;
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}
