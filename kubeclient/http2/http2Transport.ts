/** Carries requests to an API server by HTTP/2, over as many connections as its watches need. */

import { unlessAborted } from '../../base/unlessAborted.ts';
import type { Clock } from '../clock.ts';
import type { KubeEndpoint } from '../endpoint.ts';
import type { KubeRequest, KubeResponse, KubeTransport } from '../transport.ts';
import { Connection, Unread } from './connection.ts';
import { dial } from './dial.ts';

/** Watches leave so many streams of a connection to what is urgent. */
const KEPT_FROM_WATCHES = 10;
const UNAUTHORIZED = 401;
/** So often a request is sent that servers refuse unread. */
const TRIES = 3;

/** A connection that is being opened, for all who wait for one: it is used by whoever comes, or closed with the transport. */
interface Opening {
  readonly connection: Promise<Connection>;
  giveUp(why: Error): void;
}

export class Http2Transport implements KubeTransport {
  readonly #endpoint: KubeEndpoint;
  readonly #clock: Clock;
  readonly #connections = new Set<Connection>();
  #opening: Opening | undefined;
  #isClosed = false;

  constructor(endpoint: KubeEndpoint, clock: Clock) {
    this.#endpoint = endpoint;
    this.#clock = clock;
  }

  async send(request: KubeRequest, { signal }: { readonly signal: AbortSignal }): Promise<KubeResponse> {
    const { basePath, credentials, headers: ofAll = {} } = this.#endpoint;
    signal.throwIfAborted();
    const token = await unlessAborted(credentials.token(), signal);
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { ...ofAll, ...request.headers, ...authorization };
    const response = await this.#sendUntilRead({ ...request, path: basePath + request.path, headers }, signal);
    if (response.code === UNAUTHORIZED) credentials.refused();
    return response;
  }

  reset(): void {
    this.#giveUp(new Error('the connection was given up, for nothing was heard over it'));
  }

  /** There are other credentials: what is asked from now on is asked over a new connection, and watches begin anew. */
  renew(): void {
    const why = new Error('the connection was opened anew, with other credentials');
    this.#opening?.giveUp(why);
    this.#opening = undefined;
    for (const connection of [...this.#connections]) connection.retire(why);
  }

  close(): void {
    this.#isClosed = true;
    this.#giveUp(new Error('the connection was closed'));
  }

  #giveUp(why: Error): void {
    this.#opening?.giveUp(why);
    this.#opening = undefined;
    for (const connection of [...this.#connections]) connection.close(why);
  }

  /** As the transport of Go: what a server has not dealt with, as one that ends or has no stream left, it is asked again. */
  async #sendUntilRead(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#sendOverOne(request, signal);
      } catch (error) {
        if (!(error instanceof Unread) || tries === TRIES) throw error;
      }
    }
  }

  /** A connection is found and used in one go: of many who look at once each has to see what the others took. */
  async #sendOverOne(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const keptFree = request.isWatch ? KEPT_FROM_WATCHES : 0;
    for (;;) {
      signal.throwIfAborted();
      const all = [...this.#connections];
      // A server that allows very few streams serves each by itself.
      const found = all.find(({ free }) => free > keptFree) ?? all.find(({ isIdle, isOpen }) => isIdle && isOpen);
      if (found !== undefined) return found.send(request, signal);
      if (this.#isClosed) throw new Error('the connection was closed');
      this.#opening ??= this.#open();
      const opened = await unlessAborted(this.#opening.connection, signal);
      if (opened.isIdle) return opened.send(request, signal);
    }
  }

  #open(): Opening {
    const end = new AbortController();
    const opening: Opening = {
      connection: this.#connect(end.signal).finally(() => {
        if (this.#opening === opening) this.#opening = undefined;
      }),
      giveUp: (why) => end.abort(why),
    };
    return opening;
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const { origin, credentials } = this.#endpoint;
    const context = await unlessAborted(credentials.context(), signal);
    const socket = await dial(this.#endpoint, { context, clock: this.#clock, signal });
    if (signal.aborted) {
      socket.destroy();
      throw signal.reason;
    }
    const connection: Connection = new Connection({
      origin,
      socket,
      clock: this.#clock,
      onLeave: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    await unlessAborted(connection.settled, signal);
    return connection;
  }
}
