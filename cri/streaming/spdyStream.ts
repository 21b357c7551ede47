import { Duplex } from 'node:stream';
import { createConnectionClosedFailure, createStreamRefusedFailure } from './failure.ts';
import { RESET_STATUS_CODES } from './frames.ts';
import type { Headers } from './headerBlock.ts';

/**
 * The operations of a connection that its streams use. Promises resolve when the bytes have been written to the socket.
 */
export interface StreamTransport {
  data(streamId: number, data: Uint8Array, fin: boolean): Promise<void>;
  reset(streamId: number, status: number): Promise<void>;
  /** Reports that both sides have finished the stream or that it was destroyed. */
  release(streamId: number): void;
}

/**
 * Maximum number of bytes that are buffered for a slow reader. When it is reached, reading from the connection stops.
 */
const READ_BUFFER_BYTES = 64 * 1024;

/** Maximum size of a DATA frame in bytes. It is at least the size of the kubelet's and containerd's copy buffers. */
const MAX_DATA_BYTES = 64 * 1024;

/**
 * A stream of a SPDY connection. Each direction ends separately (FLAG_FIN). A reset by the peer ends both. As in
 * spdystream, received data can still be read after a reset, and further writes are dropped.
 */
export class SpdyStream extends Duplex {
  readonly id: number;
  readonly headers: Headers;
  /** Resolves once the peer has accepted the stream. */
  readonly accepted: Promise<void>;
  readonly #transport: StreamTransport;
  readonly #acceptResult = Promise.withResolvers<void>();
  #pendingReceives: (() => void)[] = [];
  #state: 'open' | 'reset' | 'lost' = 'open';
  #hasReceivedEnd = false;

  constructor(id: number, headers: Headers, wire: StreamTransport) {
    super({ readableHighWaterMark: READ_BUFFER_BYTES, writableHighWaterMark: MAX_DATA_BYTES });
    this.id = id;
    this.headers = headers;
    this.#transport = wire;
    this.accepted = this.#acceptResult.promise;
    // Prevents an unhandled rejection. Callers that do not await `accepted` get the error from the stream itself.
    this.accepted.catch(() => {});
  }

  accept(): void {
    this.#acceptResult.resolve();
  }

  /** Buffers data from the peer and waits until there is room for more. */
  async receive(data: Uint8Array): Promise<void> {
    if (data.length === 0 || this.destroyed || this.#hasReceivedEnd) return;
    if (this.push(data)) return;
    await new Promise<void>((resolve) => this.#pendingReceives.push(resolve));
  }

  receiveEnd(): void {
    if (this.#hasReceivedEnd || this.destroyed) return;
    this.#hasReceivedEnd = true;
    this.push(null);
  }

  receiveReset(status: number): void {
    this.#state = 'reset';
    this.#acceptResult.reject(createStreamRefusedFailure(status));
    this.receiveEnd();
    this.end();
  }

  /**
   * Ends the stream without an error after the connection has closed, because the connection itself reports the error.
   * Received data can still be read.
   */
  handleConnectionClosed(): void {
    this.#state = 'lost';
    this.#acceptResult.reject(createConnectionClosedFailure());
    this.#resumeReceiving();
    this.receiveEnd();
    this.end();
  }

  override _read(): void {
    this.#resumeReceiving();
  }

  override _write(chunk: Buffer, _: string, done: (error?: Error | null) => void): void {
    this.#sendChunk(chunk).then(() => done(), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    const finPromise =
      this.#state === 'open' ? this.#transport.data(this.id, new Uint8Array(), true) : Promise.resolve();
    finPromise.then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const isComplete = this.#hasReceivedEnd && this.writableFinished;
    if (!isComplete && this.#state === 'open')
      this.#transport.reset(this.id, RESET_STATUS_CODES.cancel).catch(() => {});
    this.#transport.release(this.id);
    this.#acceptResult.reject(error ?? createConnectionClosedFailure());
    this.#resumeReceiving();
    done(error);
  }

  async #sendChunk(chunk: Buffer): Promise<void> {
    for (let offset = 0; offset < chunk.length && this.#state === 'open'; offset += MAX_DATA_BYTES)
      await this.#transport.data(this.id, chunk.subarray(offset, offset + MAX_DATA_BYTES), false);
  }

  #resumeReceiving(): void {
    for (const resolve of this.#pendingReceives.splice(0)) resolve();
  }
}
