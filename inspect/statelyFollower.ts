/** One who follows the actors over a WebSocket: it hears of those that there are bit by bit, and then of all that happens. */
import type { WebSocket } from 'ws';
import { nextTurn } from '../base/nextTurn.ts';
import type { StatelyEvent } from './stately.ts';

/** So much is given to the connection at a time, in characters: each actor brings the definition of its machine. */
const SLICE = 2 ** 18;
/** So much of what happens may wait, in characters. */
const MOST_UNREAD = 2 ** 22;
/** WebSocket's "try again later". */
const BEHIND = 1013;

/** Who falls behind is ended: it may begin anew itself. */
export class StatelyFollower {
  readonly #socket: WebSocket;
  readonly #actors: StatelyEvent[];
  #events: string[] = [];
  #waiting = 0;
  #isSending = false;
  #isThere = true;

  /** `actors` are those that there are when it begins. */
  constructor(socket: WebSocket, actors: readonly StatelyEvent[]) {
    this.#socket = socket;
    this.#actors = actors.toReversed();
    socket.on('pong', () => {
      this.#isThere = true;
    });
    this.#send();
  }

  tell(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#waiting += text.length;
    this.#events.push(text);
    if (this.#waiting > MOST_UNREAD) this.#end();
    else this.#send();
  }

  /** Whoever has not answered the last one is gone. */
  ping(): void {
    if (this.#isThere) this.#socket.ping();
    else this.#socket.terminate();
    this.#isThere = false;
  }

  #end(): void {
    this.#actors.length = 0;
    this.#events = [];
    this.#socket.close(BEHIND, 'too slow');
  }

  /** A slice at a time, and the next one when that has left: the node has turns in between. */
  #send(): void {
    if (this.#isSending || this.#socket.readyState !== this.#socket.OPEN) return;
    const slice = this.#slice();
    const last = slice.pop();
    if (last === undefined) return;
    this.#isSending = true;
    for (const text of slice) this.#socket.send(text);
    this.#socket.send(last, () => void nextTurn().then(() => this.#goOn()));
  }

  #goOn(): void {
    this.#isSending = false;
    this.#send();
  }

  /** First the actors, each written out when it is its turn; then what has happened since. */
  #slice(): string[] {
    const slice: string[] = [];
    for (let size = 0; size < SLICE && this.#actors.length > 0; size += slice.at(-1)?.length ?? 0)
      slice.push(JSON.stringify(this.#actors.pop()));
    if (slice.length > 0) return slice;
    const events = this.#events;
    this.#events = [];
    this.#waiting = 0;
    return events;
  }
}
