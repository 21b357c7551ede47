/** Simulates connections to servers as byte streams. */
import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../base/time/clock.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { joinHostPort } from '../services/http/dialError.ts';
import type { ConnectionListener, HealthResult, NetworkConnection, NetworkEndpoint } from '../services/http/network.ts';

/** A response to a GET request. */
export interface SimulatedResponse {
  /** Defaults to 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Time that the server takes to respond, in milliseconds. */
  readonly delayMs?: number;
  /** If defined, the response, including its headers, ends after `bytes` bytes in the way that `ending` specifies. */
  readonly cut?: { readonly bytes: number; readonly ending: 'closed' | 'reset' | 'silent' };
}

export interface SimulatedServer {
  /** The outcome of a connection attempt. If undefined, it succeeds. */
  readonly connection?: 'refused' | 'unreachable' | 'silent';
  /** Time until a connection is established or refused, in milliseconds. */
  readonly connectMs?: number;
  /** Whether the server only accepts TLS. */
  readonly isSecure?: boolean;
  /**
   * Returns the response for a path with its query. If missing, or if it returns undefined, the server never responds.
   */
  readonly respond?: (path: string) => SimulatedResponse | undefined;
  /**
   * Returns the health of a service in the gRPC health protocol. If missing, or if it returns undefined, the server
   * never responds.
   */
  readonly health?: (service: string) => Extract<HealthResult, object> | undefined;
}

const FAILURE_CODES = { refused: 'ECONNREFUSED', unreachable: 'EHOSTUNREACH', reset: 'ECONNRESET' } as const;

/** Creates a connection error with the same message and code as in Node.js. */
export function networkError(
  kind: keyof typeof FAILURE_CODES,
  { host, port }: Pick<NetworkEndpoint, 'host' | 'port'>,
): Error {
  const code = FAILURE_CODES[kind];
  const message = kind === 'reset' ? `read ${code}` : `connect ${code} ${joinHostPort(host, port)}`;
  return Object.assign(new Error(message), { code });
}

/** Encodes the headers and body of a response, truncated as specified. */
export function encodeResponse({ status = 200, headers = {}, body = '', cut }: SimulatedResponse) {
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ ...length, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const responseHead = Buffer.from(
    `HTTP/1.1 ${status} ${lookUp(STATUS_CODES, String(status)) ?? ''}\r\n${lines.join('')}\r\n`,
  );
  const byteLimit = cut?.bytes ?? Number.POSITIVE_INFINITY;
  return {
    head: responseHead.subarray(0, byteLimit),
    isComplete: byteLimit >= responseHead.length,
    body: Buffer.from(body).subarray(0, Math.max(0, byteLimit - responseHead.length)),
  };
}

/** A cancellable wait on a clock. */
export class CancellableWait {
  readonly #clock: Clock;
  #timer: unknown;
  #isCancelled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `act` after a delay, or immediately if the delay is not positive. */
  after(ms: number | undefined, act: () => void): void {
    if (this.#isCancelled) return;
    if (ms === undefined || ms <= 0) act();
    else this.#timer = this.#clock.setTimeout(() => !this.#isCancelled && act(), ms);
  }

  pause(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#clock.clearTimeout(this.#timer);
  }
}

/** A simulated connection that carries a single request and its response. */
export class SimulatedConnection implements NetworkConnection {
  readonly #targetEndpoint: NetworkEndpoint;
  readonly #listener: ConnectionListener;
  readonly #latencyWait: CancellableWait;
  #isDestroyed = false;
  #server: SimulatedServer | undefined;
  #request: string | undefined;

  constructor(clock: Clock, endpoint: NetworkEndpoint, listener: ConnectionListener) {
    this.#targetEndpoint = endpoint;
    this.#listener = listener;
    this.#latencyWait = new CancellableWait(clock);
  }

  write(text: string): void {
    this.#request = text;
    if (this.#server !== undefined) this.#sendResponse(this.#server, text);
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#latencyWait.cancel();
  }

  readonly failConnection = (error: unknown): void => {
    if (!this.#isDestroyed) this.#listener.onError(error);
  };

  /** Connects to the server after the server's connection delay, or fails as the server specifies. */
  readonly openConnection = (server: SimulatedServer): void => {
    const { connection, connectMs } = server;
    if (this.#isDestroyed || connection === 'silent') return;
    this.#latencyWait.after(connectMs, () => {
      if (connection !== undefined) return this.failConnection(networkError(connection, this.#targetEndpoint));
      this.#server = server;
      this.#listener.onConnect?.();
      if (!this.#isDestroyed && this.#request !== undefined) this.#sendResponse(server, this.#request);
    });
  };

  #sendResponse({ isSecure = false, respond }: SimulatedServer, request: string): void {
    if (isSecure !== this.#targetEndpoint.isSecure) {
      if (isSecure) this.#listener.onEnd?.();
      else this.failConnection(Object.assign(new Error('write EPROTO: wrong version number'), { code: 'EPROTO' }));
      return;
    }
    const [, path = '/'] = request.split(' ', 2);
    const response = respond?.(path);
    if (response === undefined) return;
    this.#latencyWait.after(response.delayMs, () => this.#sendBytes(response));
  }

  #sendBytes(response: SimulatedResponse): void {
    const { onData, onEnd } = this.#listener;
    const { head, body } = encodeResponse(response);
    for (const chunk of [head, body]) if (chunk.length > 0 && !this.#isDestroyed) onData?.(chunk);
    if (this.#isDestroyed || response.cut?.ending === 'silent') return;
    if (response.cut?.ending === 'reset') this.failConnection(networkError('reset', this.#targetEndpoint));
    else onEnd?.();
  }
}
