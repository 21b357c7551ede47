/** One connection of HTTP/2 to an API server: requests beside each other, and a ping while nothing is heard. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { KubeRequest, KubeResponse } from '../transport.ts';
import { inWords } from './dial.ts';
import { streamText } from './streamText.ts';

export interface ConnectionOptions {
  /** `https://host:port` */
  readonly origin: string;
  /** Connected to there; it is closed with the connection. */
  readonly socket: Socket;
  readonly clock: Clock;
  /** It takes no more requests; those that are under way go on as long as they can. */
  readonly onLeave: () => void;
}

/** A request with all that it bears. */
type Sent = Omit<KubeRequest, 'headers'> & {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
};

/** The server says that it has not dealt with a request, whatever that was: it can be sent once more. */
export class Unread extends Error {}

/** As client-go: so long nothing is heard before a ping asks, and so long its answer may take. */
const QUIET_MS = 30_000;
const PING_MS = 15_000;
/** A server that has sent its clients away closes what nobody uses any more, within so long or not at all. */
const LEAVE_MS = 5_000;
/** As many streams as a kube-apiserver allows, until it says how many. */
const STREAMS = 100;

export class Connection {
  readonly #session: ClientHttp2Session;
  readonly #clock: Clock;
  readonly #onLeave: () => void;
  #streams = 0;
  /** By its `monotonic`, as all that is compared here: a clock that is set back would keep a dead connection alive. */
  #heardAt: number;
  #quiet: unknown;
  #leave: unknown;
  readonly #watches = new Set<ClientHttp2Stream>();
  #isLeaving = false;
  readonly #socket: Socket;
  /** Why it has ended. */
  #failure: Error | undefined;
  /** Resolves once the server has said how much it takes, or the connection has ended before. */
  readonly settled: Promise<void>;

  constructor({ origin, socket, clock, onLeave }: ConnectionOptions) {
    this.#clock = clock;
    this.#onLeave = onLeave;
    this.#heardAt = clock.monotonic();
    this.#socket = socket;
    this.#session = connect(origin, { createConnection: () => socket });
    this.#session.on('error', (error) => {
      this.#failure ??= inWords(error, { origin });
    });
    this.settled = new Promise((done) => {
      for (const event of ['remoteSettings', 'close'] as const) this.#session.once(event, () => done());
    });
    this.#session.on('goaway', () => {
      this.retire();
    });
    this.#session.on('close', () => {
      for (const timer of [this.#quiet, this.#leave]) clock.clearTimeout(timer);
      onLeave();
    });
    this.#awaitQuiet();
  }

  /** How many more requests it can take. */
  get free(): number {
    if (!this.isOpen) return 0;
    const { maxConcurrentStreams = STREAMS } = this.#session.remoteSettings;
    return maxConcurrentStreams - this.#streams;
  }

  /** Whether no request is under way. */
  get isIdle(): boolean {
    return this.#streams === 0;
  }

  /** Whether it goes on. */
  get isOpen(): boolean {
    return !this.#session.destroyed && !this.#session.closed;
  }

  /** It takes no more requests; watches, which would go on for long, are ended, with this or as the server has said. */
  retire(why?: Error): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#onLeave();
    this.#session.close();
    if (why !== undefined) for (const watch of this.#watches) watch.destroy(why);
    this.#leaveWhenIdle();
  }

  close(why: Error = new Error('the connection was closed')): void {
    this.#failure ??= why;
    this.#session.destroy(why);
    // The session would wait until what it has written last has gone, over a connection that may be dead.
    this.#socket.destroy();
  }

  send({ method, path, headers, body, isWatch = false }: Sent, signal: AbortSignal): Promise<KubeResponse> {
    if (this.#session.destroyed) throw this.#failure ?? new Error('the server closed the connection');
    // A DELETE of HTTP/2 would be sent without its body.
    const endStream = body === undefined;
    const stream = this.#session.request({ ...headers, ':method': method, ':path': path }, { endStream });
    this.#streams += 1;
    if (isWatch) this.#watches.add(stream);
    return new Promise((done, fail) => {
      const onAbort = () => {
        stream.close(constants.NGHTTP2_CANCEL);
        // It would wait until the server can be told so, over a connection that may be dead.
        stream.destroy();
        fail(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      stream.once('response', ({ ':status': code = 0, ...answered }) => {
        this.#hear();
        const body = streamText(stream, {
          onPiece: () => this.#hear(),
          whyBroken: (error) => this.#whyClosed(stream, signal, error),
        });
        done({ code, headers: textsOf(answered), body });
      });
      // What follows the answer is told by its body.
      stream.on('error', () => {});
      stream.once('close', () => {
        this.#streams -= 1;
        this.#watches.delete(stream);
        this.#leaveWhenIdle();
        signal.removeEventListener('abort', onAbort);
        fail(this.#whyClosed(stream, signal));
      });
      if (!endStream) stream.end(body);
    });
  }

  #whyClosed(stream: ClientHttp2Stream, signal: AbortSignal, cause: unknown = stream.errored): unknown {
    if (signal.aborted) return signal.reason;
    if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return new Unread('the server refused the request unread');
    return this.#failure ?? withoutStream(cause) ?? new Error('the server closed the connection');
  }

  /** The session ends with its socket, of which the other side may keep its half for ever. */
  #leaveWhenIdle(): void {
    if (!this.#isLeaving || !this.isIdle) return;
    this.#clock.clearTimeout(this.#leave);
    this.#leave = this.#clock.setTimeout(() => this.#socket.destroy(), LEAVE_MS);
  }

  #hear(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  #awaitQuiet(): void {
    const left = this.#heardAt + QUIET_MS - this.#clock.monotonic();
    this.#quiet = this.#clock.setTimeout(() => this.#checkQuiet(), Math.max(left, 0));
  }

  #checkQuiet(): void {
    // One that waits for its socket alone to close takes no ping.
    if (this.#session.destroyed) return;
    if (this.#clock.monotonic() - this.#heardAt < QUIET_MS) this.#awaitQuiet();
    else this.#askForLife();
  }

  #askForLife(): void {
    const late = new Error(`no answer to a ping within ${PING_MS / 1000}s`);
    const limit = this.#clock.setTimeout(() => this.close(late), PING_MS);
    this.#session.ping((error) => {
      this.#clock.clearTimeout(limit);
      if (error !== null || this.#session.destroyed) return;
      this.#hear();
      this.#awaitQuiet();
    });
  }
}

/** A request that was waiting for its connection says that it was cancelled, and only then what failed. */
function withoutStream(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('code' in error && 'cause' in error)) return error;
  return error.code === 'ERR_HTTP2_STREAM_CANCEL' ? (error.cause ?? error) : error;
}

const textsOf = (headers: Readonly<Record<string, string | readonly string[] | undefined>>) =>
  new Map(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])),
  );
