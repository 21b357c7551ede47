/**
 * An HTTP/2 connection to an API server for concurrent requests. Sends a ping when the server has not sent data for a
 * while.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/time/clock.ts';
import type { KubeRequest, KubeResponse } from '../transport.ts';
import { readableTlsError } from './dial.ts';
import { readStreamText } from './streamText.ts';

export interface ConnectionOptions {
  /** Scheme, host and port of the server, as `https://host:port`. */
  readonly origin: string;
  /** Socket that is connected to the origin. Closing the connection closes the socket. */
  readonly socket: Socket;
  readonly clock: Clock;
  /** Called when the connection stops accepting requests. Requests in flight continue if possible. */
  readonly onUnusable: () => void;
}

type RequestWithHeaders = Omit<KubeRequest, 'headers'> & {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
};

/**
 * Error for a request that the server did not process (GOAWAY or REFUSED_STREAM). Even a request that is not idempotent
 * can then be sent again.
 */
export class RequestNotProcessed extends Error {}

/** Time without data from the server after which a ping is sent, in milliseconds, as in client-go. */
const PING_AFTER_MS = 30_000;
/** Timeout of the ping, in milliseconds, as in client-go. */
const PING_TIMEOUT_MS = 15_000;
/** Time after which the client closes an idle retired connection that the server has not closed, in milliseconds. */
const CLOSE_TIMEOUT_MS = 5_000;
/** Maximum number of streams to assume until the server sends its settings. This is the kube-apiserver's default. */
const DEFAULT_MAX_STREAMS = 100;

export class Connection {
  readonly #session: ClientHttp2Session;
  readonly #clock: Clock;
  readonly #onRetired: () => void;
  #openStreams = 0;
  /**
   * Monotonic time at which data was last received. The wall clock is not used, because adjusting it backwards would
   * delay the detection of a dead connection.
   */
  #lastReceivedAt: number;
  #pingTimer: unknown;
  #closeTimer: unknown;
  readonly #watches = new Set<ClientHttp2Stream>();
  #isRetired = false;
  readonly #socket: Socket;
  /** Reason why the connection was closed. */
  #failure: Error | undefined;
  /** Resolves when the server has sent its settings or the connection is closed. */
  readonly readyOrClosed: Promise<void>;

  constructor({ origin, socket, clock, onUnusable }: ConnectionOptions) {
    this.#clock = clock;
    this.#onRetired = onUnusable;
    this.#lastReceivedAt = clock.monotonic();
    this.#socket = socket;
    this.#session = connect(origin, { createConnection: () => socket });
    this.#session.on('error', (error) => {
      this.#failure ??= readableTlsError(error, { origin });
    });
    this.readyOrClosed = new Promise((resolve) => {
      for (const event of ['remoteSettings', 'close'] as const) this.#session.once(event, () => resolve());
    });
    this.#session.on('goaway', () => {
      this.retire();
    });
    this.#session.on('close', () => {
      for (const timer of [this.#pingTimer, this.#closeTimer]) clock.clearTimeout(timer);
      onUnusable();
    });
    this.#schedulePing();
  }

  /** Number of additional requests that the connection can take. */
  get freeStreams(): number {
    if (!this.isOpen) return 0;
    const { maxConcurrentStreams = DEFAULT_MAX_STREAMS } = this.#session.remoteSettings;
    return maxConcurrentStreams - this.#openStreams;
  }

  get isIdle(): boolean {
    return this.#openStreams === 0;
  }

  get isOpen(): boolean {
    return !this.#session.destroyed && !this.#session.closed;
  }

  /**
   * Stops accepting requests. If a reason is passed, also ends the watches, which would otherwise stay open for a long
   * time.
   */
  retire(reason?: Error): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#onRetired();
    this.#session.close();
    if (reason !== undefined) for (const watch of this.#watches) watch.destroy(reason);
    this.#closeWhenIdle();
  }

  close(reason: Error = new Error('the connection was closed')): void {
    this.#failure ??= reason;
    this.#session.destroy(reason);
    // Destroy the socket too, because the session would wait for its pending writes, and the connection may be dead.
    this.#socket.destroy();
  }

  send(
    { method, path, headers, body, isWatch = false }: RequestWithHeaders,
    signal: AbortSignal,
  ): Promise<KubeResponse> {
    if (this.#session.destroyed) throw this.#failure ?? new Error('the server closed the connection');
    // Set endStream explicitly, because a DELETE would otherwise be sent without its body.
    const isBodyless = body === undefined;
    const stream = this.#session.request({ ...headers, ':method': method, ':path': path }, { endStream: isBodyless });
    this.#openStreams += 1;
    if (isWatch) this.#watches.add(stream);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        stream.close(constants.NGHTTP2_CANCEL);
        // Destroy the stream too, because it would wait until the cancellation has been sent, and the connection may be
        // dead.
        stream.destroy();
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      stream.once('response', ({ ':status': code = 0, ...responseHeaders }) => {
        this.#recordReceivedData();
        const body = readStreamText(stream, {
          onChunk: () => this.#recordReceivedData(),
          toError: (error) => this.#toCloseReason(stream, signal, error),
        });
        resolve({ code, headers: toHeaderMap(responseHeaders), body });
      });
      // Ignore errors here, because the promise and the response body report them.
      stream.on('error', () => {});
      stream.once('close', () => {
        this.#openStreams -= 1;
        this.#watches.delete(stream);
        this.#closeWhenIdle();
        signal.removeEventListener('abort', onAbort);
        reject(this.#toCloseReason(stream, signal));
      });
      if (!isBodyless) stream.end(body);
    });
  }

  #toCloseReason(stream: ClientHttp2Stream, signal: AbortSignal, cause: unknown = stream.errored): unknown {
    if (signal.aborted) return signal.reason;
    if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM)
      return new RequestNotProcessed('the server refused the request unread');
    return this.#failure ?? underlyingError(cause) ?? new Error('the server closed the connection');
  }

  /**
   * Closes the socket `CLOSE_TIMEOUT_MS` after the last request has completed, because it would stay half-open if the
   * server never closed its side.
   */
  #closeWhenIdle(): void {
    if (!this.#isRetired || !this.isIdle) return;
    this.#clock.clearTimeout(this.#closeTimer);
    this.#closeTimer = this.#clock.setTimeout(() => this.#socket.destroy(), CLOSE_TIMEOUT_MS);
  }

  #recordReceivedData(): void {
    this.#lastReceivedAt = this.#clock.monotonic();
  }

  #schedulePing(): void {
    const remainingMs = this.#lastReceivedAt + PING_AFTER_MS - this.#clock.monotonic();
    this.#pingTimer = this.#clock.setTimeout(() => this.#checkSilence(), Math.max(remainingMs, 0));
  }

  #checkSilence(): void {
    // Return if the session is destroyed, because a session that only waits for its socket to close cannot send a ping.
    if (this.#session.destroyed) return;
    if (this.#clock.monotonic() - this.#lastReceivedAt < PING_AFTER_MS) this.#schedulePing();
    else this.#sendPing();
  }

  #sendPing(): void {
    const timeoutError = new Error(`no answer to a ping within ${PING_TIMEOUT_MS / 1000}s`);
    const timer = this.#clock.setTimeout(() => this.close(timeoutError), PING_TIMEOUT_MS);
    this.#session.ping((error) => {
      this.#clock.clearTimeout(timer);
      if (error !== null || this.#session.destroyed) return;
      this.#recordReceivedData();
      this.#schedulePing();
    });
  }
}

/** Returns the underlying error of a request that was cancelled while it waited for the connection. */
function underlyingError(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('code' in error && 'cause' in error)) return error;
  return error.code === 'ERR_HTTP2_STREAM_CANCEL' ? (error.cause ?? error) : error;
}

const toHeaderMap = (headers: Readonly<Record<string, string | readonly string[] | undefined>>) =>
  new Map(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])),
  );
