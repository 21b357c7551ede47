import type { Duplex } from 'node:stream';
import { NodeFailure } from '../../base/failure.ts';
import { startTimeLimit } from '../../base/time/timeLimit.ts';
import { createConnectionClosedFailure, protocolFailure } from './failure.ts';
import { FrameReader } from './frameReader.ts';
import { encodeFrame, type Frame, GO_AWAY_STATUS_CODES, RESET_STATUS_CODES } from './frames.ts';
import type { Headers } from './headerBlock.ts';
import { headerCompressor, headerDecompressor } from './headerCodec.ts';
import { SpdyStream, type StreamTransport } from './spdyStream.ts';

/**
 * Maximum number of concurrent streams, each of which may buffer data for a slow reader. Further streams of the peer
 * are refused.
 */
export const MAX_STREAMS = 256;

/** Time limit in milliseconds for sending the last bytes when this side closes a connection. */
const CLOSE_TIMEOUT_MS = 1_000;

const MAX_STREAM_ID = 0x7fff_ffff;

export interface SpdyOptions {
  readonly role: 'client' | 'server';
  /** Receives each accepted stream. If undefined, the peer's streams are refused. */
  readonly onStream?: (stream: SpdyStream) => void;
}

/**
 * A SPDY/3.1 connection as used by Kubernetes over an upgraded HTTP connection. It has no flow-control windows, because
 * the peers use moby/spdystream, which neither obeys them nor sends WINDOW_UPDATE. Instead, reading from the connection
 * stops while a stream is not read, and all writers stop while the peer does not read.
 */
export class SpdyConnection {
  /** Resolves when the connection has closed, with the error if there was one. */
  readonly closePromise: Promise<Error | undefined>;
  readonly #closeResult = Promise.withResolvers<Error | undefined>();
  readonly #socket: Duplex;
  readonly #options: SpdyOptions;
  readonly #frameReader = new FrameReader();
  readonly #compressor = headerCompressor();
  readonly #decompressor = headerDecompressor();
  readonly #streams = new Map<number, SpdyStream>();
  readonly #pendingPings = new Map<number, PromiseWithResolvers<void>>();
  readonly #streamTransport: StreamTransport;
  /** Pending while the socket's buffer is full. Undefined otherwise. */
  #drainPromise: PromiseWithResolvers<void> | undefined;
  #state: 'open' | 'leaving' | 'over' = 'open';
  #nextStreamId: number;
  #nextPingId: number;
  #lastPeerStreamId = 0;

  constructor(socket: Duplex, options: SpdyOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#nextStreamId = this.#nextPingId = options.role === 'client' ? 1 : 2;
    this.closePromise = this.#closeResult.promise;
    this.#streamTransport = {
      data: (streamId, data, fin) => this.#sendFrame({ type: 'data', streamId, data, fin }),
      reset: (streamId, status) => this.#sendFrame({ type: 'rstStream', streamId, status }),
      release: (streamId) => void this.#streams.delete(streamId),
    };
    socket.on('error', (error) => this.#shutDown(createConnectionClosedFailure(error)));
    socket.on('drain', () => this.#resumeWriters());
    void this.#readFrames();
  }

  /** Opens a stream and waits until the peer has accepted it. */
  async open(headers: Headers): Promise<SpdyStream> {
    if (this.#state !== 'open' || this.#nextStreamId > MAX_STREAM_ID) throw createConnectionClosedFailure();
    const streamId = this.#nextStreamId;
    this.#nextStreamId += 2;
    const stream = this.#addStream(streamId, headers);
    const headerBlock = await this.#compressor.convert(headers);
    const fields = { associatedId: 0, priority: 0, fin: false, unidirectional: false };
    await this.#sendFrame({ type: 'synStream', streamId, ...fields, block: headerBlock });
    await stream.accepted;
    return stream;
  }

  /** Sends a ping and waits for the response. Rejects if the connection closes first. */
  async ping(): Promise<void> {
    const id = this.#nextPingId;
    this.#nextPingId = id + 2 > MAX_STREAM_ID ? id % 2 || 2 : id + 2;
    const pongPromise = Promise.withResolvers<void>();
    this.#pendingPings.set(id, pongPromise);
    await this.#sendFrame({ type: 'ping', id });
    await pongPromise.promise;
  }

  /** Closes the connection and resets all open streams, as the kubelet and containerd do. */
  close(): void {
    for (const stream of [...this.#streams.values()]) stream.destroy();
    this.#shutDown(undefined);
  }

  async #readFrames(): Promise<void> {
    try {
      // `destroyOnReturn` is false, so that pending writes complete even if reading fails.
      for await (const chunk of this.#socket.iterator({ destroyOnReturn: false })) {
        for (const frame of this.#frameReader.read(chunk)) await this.#handleFrame(frame);
        if (this.#state === 'over') return;
      }
      if (this.#frameReader.isIncomplete) throw protocolFailure('it broke off within a frame');
      this.#shutDown(undefined);
    } catch (error) {
      // This also handles errors that `onStream` throws.
      this.#shutDown(
        error instanceof NodeFailure ? error : createConnectionClosedFailure(error),
        GO_AWAY_STATUS_CODES.protocolError,
      );
    }
  }

  #handleFrame(frame: Frame): Promise<void> | void {
    switch (frame.type) {
      case 'data':
        return this.#handleData(frame.streamId, frame.data, frame.fin);
      case 'synStream':
        return this.#handleSynStream(frame.streamId, frame.block, frame.fin);
      case 'synReply':
      case 'headers':
        return this.#handleHeaders(frame);
      case 'rstStream':
        return this.#streams.get(frame.streamId)?.receiveReset(frame.status);
      case 'ping':
        return this.#handlePing(frame.id);
      case 'goAway':
        if (this.#state === 'open') this.#state = 'leaving';
        return;
      // Ignore the frame, because window sizes are not used and the other settings are optional.
      case 'settings':
      case 'windowUpdate':
        return;
    }
  }

  async #handleData(streamId: number, data: Uint8Array, fin: boolean): Promise<void> {
    // Discard the data if the stream is missing, because this side has destroyed the stream.
    const stream = this.#streams.get(streamId);
    await stream?.receive(data);
    if (fin) stream?.receiveEnd();
  }

  async #handleSynStream(streamId: number, block: Uint8Array, fin: boolean): Promise<void> {
    // Decompress the headers of refused streams too, because all headers form a single compressed stream.
    const headers = await this.#decompressor.convert(block);
    if (streamId % 2 === this.#nextStreamId % 2 || streamId <= this.#lastPeerStreamId)
      throw protocolFailure(
        `a stream has the number ${streamId}, which it cannot have behind ${this.#lastPeerStreamId}`,
      );
    this.#lastPeerStreamId = streamId;
    const { onStream } = this.#options;
    if (onStream === undefined || this.#state !== 'open' || this.#streams.size >= MAX_STREAMS)
      return this.#sendFrame({ type: 'rstStream', streamId, status: RESET_STATUS_CODES.refused });
    const stream = this.#addStream(streamId, headers);
    if (fin) stream.receiveEnd();
    stream.accept();
    await this.#sendFrame({ type: 'synReply', streamId, fin: false, block: await this.#compressor.convert(new Map()) });
    onStream(stream);
  }

  async #handleHeaders({
    type,
    streamId,
    block,
    fin,
  }: Extract<Frame, { type: 'synReply' | 'headers' }>): Promise<void> {
    await this.#decompressor.convert(block);
    const stream = this.#streams.get(streamId);
    if (type === 'synReply') stream?.accept();
    if (fin) stream?.receiveEnd();
  }

  #handlePing(id: number): Promise<void> | void {
    // Pings from the peer are sent back unchanged.
    if (id % 2 !== this.#nextPingId % 2) return this.#sendFrame({ type: 'ping', id });
    this.#pendingPings.get(id)?.resolve();
    this.#pendingPings.delete(id);
  }

  #addStream(streamId: number, headers: Headers): SpdyStream {
    const stream = new SpdyStream(streamId, headers, this.#streamTransport);
    // Ignore errors here, because the code that uses the stream handles them. Without this listener, an error of an
    // unused stream would crash the process.
    stream.on('error', () => {});
    this.#streams.set(streamId, stream);
    return stream;
  }

  /** Sends a frame and waits until the socket's buffer has room. */
  async #sendFrame(frame: Frame): Promise<void> {
    if (this.#state === 'over' || this.#socket.writableEnded) throw createConnectionClosedFailure();
    if (this.#socket.write(encodeFrame(frame))) return;
    this.#drainPromise ??= Promise.withResolvers();
    await this.#drainPromise.promise;
  }

  #resumeWriters(): void {
    this.#drainPromise?.resolve();
    this.#drainPromise = undefined;
  }

  #shutDown(error: Error | undefined, status: number = GO_AWAY_STATUS_CODES.ok): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#compressor.close();
    this.#decompressor.close();
    for (const stream of [...this.#streams.values()]) stream.handleConnectionClosed();
    for (const { promise, reject } of this.#pendingPings.values()) {
      // If sending the ping failed, nothing awaits the response.
      promise.catch(() => {});
      reject(error ?? createConnectionClosedFailure());
    }
    this.#resumeWriters();
    this.#closeResult.resolve(error);
    this.#sendGoAway(status);
  }

  #sendGoAway(status: number): void {
    const socket = this.#socket;
    if (socket.destroyed || socket.writableEnded) return;
    socket.end(encodeFrame({ type: 'goAway', lastStreamId: this.#lastPeerStreamId, status }), () => socket.destroy());
    startTimeLimit(CLOSE_TIMEOUT_MS).signal.addEventListener('abort', () => socket.destroy());
  }
}
