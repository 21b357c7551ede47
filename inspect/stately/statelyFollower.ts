/** Sends the actors to a client over a WebSocket. Sends the existing actors in slices, then all events. */
import type { WebSocket } from 'ws';
import { yieldToEventLoop } from '../../base/async/yieldToEventLoop.ts';
import type { StatelyEvent } from './stately.ts';

/** Size of a slice, in characters. Each actor in it includes the definition of its machine. */
const SLICE_LENGTH = 2 ** 18;
/** Maximum size of the queued events, in characters. A client that falls further behind is disconnected. */
const MAX_QUEUED_LENGTH = 2 ** 22;
/** WebSocket close code for "try again later". */
const TRY_AGAIN_LATER = 1013;

/** Sends actors and events to one client. A client that falls behind is disconnected and can reconnect. */
export class StatelyFollower {
  readonly #socket: WebSocket;
  readonly #actors: StatelyEvent[];
  #events: string[] = [];
  #queuedLength = 0;
  #isSending = false;
  #hasPonged = true;

  /** `actors` are the actors that already exist, which are sent before any events. */
  constructor(socket: WebSocket, actors: readonly StatelyEvent[]) {
    this.#socket = socket;
    this.#actors = actors.toReversed();
    socket.on('pong', () => {
      this.#hasPonged = true;
    });
    this.#sendSlice();
  }

  send(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#queuedLength += text.length;
    this.#events.push(text);
    if (this.#queuedLength > MAX_QUEUED_LENGTH) this.#disconnect();
    else this.#sendSlice();
  }

  /** Disconnects the client if it has not responded to the previous ping. */
  ping(): void {
    if (this.#hasPonged) this.#socket.ping();
    else this.#socket.terminate();
    this.#hasPonged = false;
  }

  #disconnect(): void {
    this.#actors.length = 0;
    this.#events = [];
    this.#socket.close(TRY_AGAIN_LATER, 'too slow');
  }

  /**
   * Sends one slice. Sends the next one once the socket has written the slice, so that other work of the node can run
   * in between.
   */
  #sendSlice(): void {
    if (this.#isSending || this.#socket.readyState !== this.#socket.OPEN) return;
    const slice = this.#takeSlice();
    const lastEvent = slice.pop();
    if (lastEvent === undefined) return;
    this.#isSending = true;
    for (const text of slice) this.#socket.send(text);
    this.#socket.send(lastEvent, () => void yieldToEventLoop().then(() => this.#continueSending()));
  }

  #continueSending(): void {
    this.#isSending = false;
    this.#sendSlice();
  }

  /**
   * Returns the next actors, which are serialized on demand. Once all actors have been returned, returns the queued
   * events.
   */
  #takeSlice(): string[] {
    const slice: string[] = [];
    for (let size = 0; size < SLICE_LENGTH && this.#actors.length > 0; size += slice.at(-1)?.length ?? 0)
      slice.push(JSON.stringify(this.#actors.pop()));
    if (slice.length > 0) return slice;
    const events = this.#events;
    this.#events = [];
    this.#queuedLength = 0;
    return events;
  }
}
