import type { Duplex } from 'node:stream';
import { NodeFailure } from '../../base/failure.ts';
import { startLimit } from '../../base/limit.ts';
import { connectionEnded, malformed } from './failure.ts';
import { FrameReader } from './frameReader.ts';
import { encodeFrame, type Frame, GO_AWAY, RESET } from './frames.ts';
import type { Headers } from './headerBlock.ts';
import { headerCompressor, headerDecompressor } from './headerCodec.ts';
import { SpdyStream, type StreamWire } from './spdyStream.ts';

/** More streams at a time are refused: each may keep some bytes for a slow reader. */
export const STREAMS_LIMIT = 256;

/** How long the last bytes of a connection that we end may take, in milliseconds. */
const FAREWELL_MS = 1_000;

const LAST_ID = 0x7fff_ffff;

/** Which side of a connection this is, and what becomes of the streams that the other one opens. */
export interface SpdyOptions {
  readonly side: 'client' | 'server';
  /** Gets each stream once it has been accepted; absent: they are refused. */
  readonly onStream?: (stream: SpdyStream) => void;
}

/**
 * A connection of SPDY/3.1 as Kubernetes speaks it over an upgraded HTTP connection. It has no windows of flow control:
 * the peers, which use moby/spdystream, neither keep to them nor send WINDOW_UPDATE. Instead a stream that nobody reads
 * stops all reading of the connection, and a peer that does not read stops all writers.
 */
export class SpdyConnection {
  /** Resolves when it is over, with what went wrong. */
  readonly ended: Promise<Error | undefined>;
  readonly #end = Promise.withResolvers<Error | undefined>();
  readonly #socket: Duplex;
  readonly #options: SpdyOptions;
  readonly #reader = new FrameReader();
  readonly #compressor = headerCompressor();
  readonly #decompressor = headerDecompressor();
  readonly #streams = new Map<number, SpdyStream>();
  readonly #pings = new Map<number, PromiseWithResolvers<void>>();
  readonly #wire: StreamWire;
  /** Where the socket is full: until it has room again. */
  #room: PromiseWithResolvers<void> | undefined;
  #state: 'open' | 'leaving' | 'over' = 'open';
  #nextId: number;
  #nextPing: number;
  #lastPeerId = 0;

  constructor(socket: Duplex, options: SpdyOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#nextId = this.#nextPing = options.side === 'client' ? 1 : 2;
    this.ended = this.#end.promise;
    this.#wire = {
      data: (streamId, data, fin) => this.#send({ type: 'data', streamId, data, fin }),
      reset: (streamId, status) => this.#send({ type: 'rstStream', streamId, status }),
      over: (streamId) => void this.#streams.delete(streamId),
    };
    socket.on('error', (error) => this.#finish(connectionEnded(error)));
    socket.on('drain', () => this.#makeRoom());
    void this.#read();
  }

  /** Opens a stream; resolves once the peer has accepted it. */
  async open(headers: Headers): Promise<SpdyStream> {
    if (this.#state !== 'open' || this.#nextId > LAST_ID) throw connectionEnded();
    const streamId = this.#nextId;
    this.#nextId += 2;
    const stream = this.#add(streamId, headers);
    const block = await this.#compressor.convert(headers);
    const fixed = { associatedId: 0, priority: 0, fin: false, unidirectional: false };
    await this.#send({ type: 'synStream', streamId, ...fixed, block });
    await stream.accepted;
    return stream;
  }

  /** Resolves when the peer has answered; rejects when the connection ends before. */
  async ping(): Promise<void> {
    const id = this.#nextPing;
    this.#nextPing = id + 2 > LAST_ID ? id % 2 || 2 : id + 2;
    const answered = Promise.withResolvers<void>();
    this.#pings.set(id, answered);
    await this.#send({ type: 'ping', id });
    await answered.promise;
  }

  /** Ends it in order: every stream that is left is reset, as a kubelet and containerd do it. */
  close(): void {
    for (const stream of [...this.#streams.values()]) stream.destroy();
    this.#finish(undefined);
  }

  async #read(): Promise<void> {
    try {
      // What is still to be sent is sent, also where reading ends with an error.
      for await (const chunk of this.#socket.iterator({ destroyOnReturn: false })) {
        for (const frame of this.#reader.read(chunk)) await this.#take(frame);
        if (this.#state === 'over') return;
      }
      if (this.#reader.isWithin) throw malformed('it broke off within a frame');
      this.#finish(undefined);
    } catch (error) {
      // What its users do with a stream may fail as well.
      this.#finish(error instanceof NodeFailure ? error : connectionEnded(error), GO_AWAY.protocolError);
    }
  }

  #take(frame: Frame): Promise<void> | void {
    switch (frame.type) {
      case 'data':
        return this.#takeData(frame.streamId, frame.data, frame.fin);
      case 'synStream':
        return this.#takeStream(frame.streamId, frame.block, frame.fin);
      case 'synReply':
      case 'headers':
        return this.#takeHeaders(frame);
      case 'rstStream':
        return this.#streams.get(frame.streamId)?.receiveReset(frame.status);
      case 'ping':
        return this.#takePing(frame.id);
      case 'goAway':
        if (this.#state === 'open') this.#state = 'leaving';
        return;
      // Both are about windows, or about what need not be kept to.
      case 'settings':
      case 'windowUpdate':
        return;
    }
  }

  async #takeData(streamId: number, data: Uint8Array, fin: boolean): Promise<void> {
    // One that is not there has been given up here.
    const stream = this.#streams.get(streamId);
    await stream?.receive(data);
    if (fin) stream?.receiveEnd();
  }

  async #takeStream(streamId: number, block: Uint8Array, fin: boolean): Promise<void> {
    // Also of one that is refused: what comes later is compressed with it.
    const headers = await this.#decompressor.convert(block);
    if (streamId % 2 === this.#nextId % 2 || streamId <= this.#lastPeerId)
      throw malformed(`a stream has the number ${streamId}, which it cannot have behind ${this.#lastPeerId}`);
    this.#lastPeerId = streamId;
    const { onStream } = this.#options;
    if (onStream === undefined || this.#state !== 'open' || this.#streams.size >= STREAMS_LIMIT)
      return this.#send({ type: 'rstStream', streamId, status: RESET.refused });
    const stream = this.#add(streamId, headers);
    if (fin) stream.receiveEnd();
    stream.accept();
    await this.#send({ type: 'synReply', streamId, fin: false, block: await this.#compressor.convert(new Map()) });
    onStream(stream);
  }

  async #takeHeaders({ type, streamId, block, fin }: Extract<Frame, { type: 'synReply' | 'headers' }>): Promise<void> {
    await this.#decompressor.convert(block);
    const stream = this.#streams.get(streamId);
    if (type === 'synReply') stream?.accept();
    if (fin) stream?.receiveEnd();
  }

  #takePing(id: number): Promise<void> | void {
    // One of the peer's own is sent back as it is.
    if (id % 2 !== this.#nextPing % 2) return this.#send({ type: 'ping', id });
    this.#pings.get(id)?.resolve();
    this.#pings.delete(id);
  }

  #add(streamId: number, headers: Headers): SpdyStream {
    const stream = new SpdyStream(streamId, headers, this.#wire);
    // Its reader hears of it; where there is none, nobody has to.
    stream.on('error', () => {});
    this.#streams.set(streamId, stream);
    return stream;
  }

  /** Resolves once the socket has room for more. */
  async #send(frame: Frame): Promise<void> {
    if (this.#state === 'over' || this.#socket.writableEnded) throw connectionEnded();
    if (this.#socket.write(encodeFrame(frame))) return;
    this.#room ??= Promise.withResolvers();
    await this.#room.promise;
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }

  #finish(error: Error | undefined, status: number = GO_AWAY.ok): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#compressor.close();
    this.#decompressor.close();
    for (const stream of [...this.#streams.values()]) stream.lose();
    for (const { promise, reject } of this.#pings.values()) {
      // Its sending may have failed already: then nobody waits for the answer.
      promise.catch(() => {});
      reject(error ?? connectionEnded());
    }
    this.#makeRoom();
    this.#end.resolve(error);
    this.#sayFarewell(status);
  }

  #sayFarewell(status: number): void {
    const socket = this.#socket;
    if (socket.destroyed || socket.writableEnded) return;
    socket.end(encodeFrame({ type: 'goAway', lastStreamId: this.#lastPeerId, status }), () => socket.destroy());
    startLimit(FAREWELL_MS).signal.addEventListener('abort', () => socket.destroy());
  }
}
