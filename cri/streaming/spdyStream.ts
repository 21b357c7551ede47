import { Duplex } from 'node:stream';
import { connectionEnded, refused } from './failure.ts';
import { RESET } from './frames.ts';
import type { Headers } from './headerBlock.ts';

/** What of a connection its streams need: all of it resolves once the bytes are on their way. */
export interface StreamWire {
  data(streamId: number, data: Uint8Array, fin: boolean): Promise<void>;
  reset(streamId: number, status: number): Promise<void>;
  /** It is over on both sides, or was given up on one. */
  over(streamId: number): void;
}

/** So much of a stream is kept for a slow reader before the connection stops reading. */
const UNREAD_BYTES = 64 * 1024;

/** As large as the parts in which a kubelet and containerd copy, or twice that. */
const DATA_BYTES = 64 * 1024;

/**
 * One stream of a SPDY connection. Its end, and the end of what the peer sends, are told apart (FLAG_FIN); a reset by the
 * peer ends both: what has come before can still be read, what is written from then on is dropped, as in spdystream.
 */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: Headers;
  /** Resolves once the peer has accepted it. */
  readonly accepted: Promise<void>;
  readonly #wire: StreamWire;
  readonly #accepted = Promise.withResolvers<void>();
  #readers: (() => void)[] = [];
  #state: 'open' | 'reset' | 'lost' = 'open';
  #hasReceivedEnd = false;

  constructor(id: number, headers: Headers, wire: StreamWire) {
    super({ readableHighWaterMark: UNREAD_BYTES, writableHighWaterMark: DATA_BYTES });
    this.id = id;
    this.headers = headers;
    this.#wire = wire;
    this.accepted = this.#accepted.promise;
    // Who does not wait for it hears of a failure by the stream itself.
    this.accepted.catch(() => {});
  }

  accept(): void {
    this.#accepted.resolve();
  }

  /** Takes what the peer has sent; resolves when there is room for more. */
  async receive(data: Uint8Array): Promise<void> {
    if (data.length === 0 || this.destroyed || this.#hasReceivedEnd) return;
    if (this.push(data)) return;
    await new Promise<void>((resolve) => this.#readers.push(resolve));
  }

  receiveEnd(): void {
    if (this.#hasReceivedEnd || this.destroyed) return;
    this.#hasReceivedEnd = true;
    this.push(null);
  }

  receiveReset(status: number): void {
    this.#state = 'reset';
    this.#accepted.reject(refused(status));
    this.receiveEnd();
    this.end();
  }

  /** The connection has ended; by what, it tells itself. What has come before can still be read. */
  lose(): void {
    this.#state = 'lost';
    this.#accepted.reject(connectionEnded());
    this.#resume();
    this.receiveEnd();
    this.end();
  }

  override _read(): void {
    this.#resume();
  }

  override _write(chunk: Buffer, _: string, done: (error?: Error | null) => void): void {
    this.#send(chunk).then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    const sent = this.#state === 'open' ? this.#wire.data(this.id, new Uint8Array(), true) : Promise.resolve();
    sent.then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const isWhole = this.#hasReceivedEnd && this.writableFinished;
    if (!isWhole && this.#state === 'open') this.#wire.reset(this.id, RESET.cancel).catch(() => {});
    this.#wire.over(this.id);
    this.#accepted.reject(error ?? connectionEnded());
    this.#resume();
    done(error);
  }

  async #send(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length && this.#state === 'open'; at += DATA_BYTES)
      await this.#wire.data(this.id, chunk.subarray(at, at + DATA_BYTES), false);
  }

  #resume(): void {
    for (const resolve of this.#readers.splice(0)) resolve();
  }
}
