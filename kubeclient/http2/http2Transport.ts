/** Sends requests to an API server over HTTP/2. Opens as many connections as the watches require. */

import { unlessAborted } from '../../base/async/unlessAborted.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { KubeEndpoint } from '../endpoint.ts';
import type { KubeRequest, KubeResponse, KubeTransport } from '../transport.ts';
import { Connection, RequestNotProcessed } from './connection.ts';
import { dialServer } from './dial.ts';

/** Streams per connection reserved for requests other than watches. */
const RESERVED_STREAMS = 10;
const UNAUTHORIZED = 401;
/**
 * Maximum number of attempts for a request that the server refuses without processing it (GOAWAY or REFUSED_STREAM).
 */
const MAX_ATTEMPTS = 3;

/** A connection attempt, shared by all requests that wait for a connection. */
interface ConnectionAttempt {
  readonly connection: Promise<Connection>;
  abort(reason: Error): void;
}

export class Http2Transport implements KubeTransport {
  readonly #endpoint: KubeEndpoint;
  readonly #clock: Clock;
  readonly #connections = new Set<Connection>();
  #connectionAttempt: ConnectionAttempt | undefined;
  #isClosed = false;

  constructor(endpoint: KubeEndpoint, clock: Clock) {
    this.#endpoint = endpoint;
    this.#clock = clock;
  }

  async send(request: KubeRequest, { signal }: { readonly signal: AbortSignal }): Promise<KubeResponse> {
    const { basePath, credentials, headers: commonHeaders = {} } = this.#endpoint;
    signal.throwIfAborted();
    const token = await unlessAborted(credentials.token(), signal);
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { ...commonHeaders, ...request.headers, ...authorization };
    const response = await this.#sendWithRetries({ ...request, path: basePath + request.path, headers }, signal);
    if (response.code === UNAUTHORIZED) credentials.handleUnauthorized();
    return response;
  }

  reset(): void {
    this.#closeAll(new Error('the connection was given up, for nothing was heard over it'));
  }

  /**
   * Applies new credentials. Further requests use a new connection, and open watches end so that they restart on it.
   */
  reconnect(): void {
    const reason = new Error('the connection was opened anew, with other credentials');
    this.#connectionAttempt?.abort(reason);
    this.#connectionAttempt = undefined;
    for (const connection of [...this.#connections]) connection.retire(reason);
  }

  close(): void {
    this.#isClosed = true;
    this.#closeAll(new Error('the connection was closed'));
  }

  #closeAll(reason: Error): void {
    this.#connectionAttempt?.abort(reason);
    this.#connectionAttempt = undefined;
    for (const connection of [...this.#connections]) connection.close(reason);
  }

  /**
   * Sends a request. Like Go's transport, sends the request again if the server has not processed it, e.g. because the
   * server is shutting down or has no free stream.
   */
  async #sendWithRetries(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#sendOnConnection(request, signal);
      } catch (error) {
        if (!(error instanceof RequestNotProcessed) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /**
   * Selects a connection and sends a request on it. There is no await between the two steps, so that concurrent
   * requests take each other's streams into account.
   */
  async #sendOnConnection(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const reservedStreams = request.isWatch ? RESERVED_STREAMS : 0;
    for (;;) {
      signal.throwIfAborted();
      const connections = [...this.#connections];
      // Fall back to an idle connection. If the server allows very few streams, no connection ever has more free
      // streams than are reserved, so each watch needs a connection of its own.
      const availableConnection =
        connections.find(({ freeStreams }) => freeStreams > reservedStreams) ??
        connections.find(({ isIdle, isOpen }) => isIdle && isOpen);
      if (availableConnection !== undefined) return availableConnection.send(request, signal);
      if (this.#isClosed) throw new Error('the connection was closed');
      this.#connectionAttempt ??= this.#startConnecting();
      const connection = await unlessAborted(this.#connectionAttempt.connection, signal);
      if (connection.isIdle) return connection.send(request, signal);
    }
  }

  #startConnecting(): ConnectionAttempt {
    const abortController = new AbortController();
    const attempt: ConnectionAttempt = {
      connection: this.#connect(abortController.signal).finally(() => {
        if (this.#connectionAttempt === attempt) this.#connectionAttempt = undefined;
      }),
      abort: (reason) => abortController.abort(reason),
    };
    return attempt;
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const { origin, credentials } = this.#endpoint;
    const context = await unlessAborted(credentials.context(), signal);
    const socket = await dialServer(this.#endpoint, { context, clock: this.#clock, signal });
    if (signal.aborted) {
      socket.destroy();
      throw signal.reason;
    }
    const connection: Connection = new Connection({
      origin,
      socket,
      clock: this.#clock,
      onUnusable: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    await unlessAborted(connection.readyOrClosed, signal);
    return connection;
  }
}
