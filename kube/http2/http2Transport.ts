/** Carries requests to an API server by HTTP/2, over as many connections as its watches need. */
import type { Clock } from '../clock.ts';
import type { KubeEndpoint } from '../endpoint.ts';
import type { KubeRequest, KubeResponse, KubeTransport } from '../transport.ts';
import { Connection } from './connection.ts';

/** Watches leave so many streams of a connection to what is urgent. */
const KEPT_FROM_WATCHES = 10;
const UNAUTHORIZED = 401;

export class Http2Transport implements KubeTransport {
  readonly #endpoint: KubeEndpoint;
  readonly #clock: Clock;
  readonly #connections = new Set<Connection>();
  /** The connection that is being opened. */
  #opening: Promise<Connection> | undefined;
  #isClosed = false;

  constructor(endpoint: KubeEndpoint, clock: Clock) {
    this.#endpoint = endpoint;
    this.#clock = clock;
  }

  async send(request: KubeRequest, { signal }: { readonly signal: AbortSignal }): Promise<KubeResponse> {
    const token = await this.#endpoint.token();
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const path = this.#endpoint.basePath + request.path;
    const connection = await this.#connectionFor(request.isWatch ? KEPT_FROM_WATCHES : 0);
    signal.throwIfAborted();
    const headers = { ...request.headers, ...authorization };
    const response = await connection.send({ ...request, path, headers }, signal);
    if (response.code === UNAUTHORIZED) this.#endpoint.refused();
    return response;
  }

  reset(): void {
    const why = new Error('the connection was given up, for nothing was heard over it');
    for (const connection of [...this.#connections]) connection.close(why);
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#connections]) connection.close();
  }

  async #connectionFor(keptFree: number): Promise<Connection> {
    for (;;) {
      const found = [...this.#connections].find(({ free }) => free > keptFree);
      if (found !== undefined) return found;
      if (this.#isClosed) throw new Error('the connection was closed');
      this.#opening ??= this.#open().finally(() => {
        this.#opening = undefined;
      });
      const opened = await this.#opening;
      // A server that allows very few streams serves each by itself.
      if (opened.isIdle) return opened;
    }
  }

  async #open(): Promise<Connection> {
    const { origin, serverName, isInsecure } = this.#endpoint;
    const pems = await this.#endpoint.pems();
    const connection: Connection = new Connection({
      origin,
      tls: {
        ...pems,
        ...(serverName === undefined ? {} : { servername: serverName }),
        ...(isInsecure ? { rejectUnauthorized: false } : {}),
      },
      clock: this.#clock,
      onLeave: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    if (this.#isClosed) connection.close();
    return connection;
  }
}
