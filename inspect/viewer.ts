/** One viewer's connection: frames as server-sent events. One that reads too slowly gets a new snapshot, and no backlog. */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';

/** So much may wait to be read, in bytes, beyond the snapshot. */
const MOST_UNREAD = 2 ** 20;
/** How long something may wait to be read, in milliseconds: whoever does not read takes the place of another. */
const MOST_BEHIND_MS = 30_000;

/** An event of a stream, as it goes over the wire. */
export const eventText = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`;

interface ViewerParts {
  readonly response: ServerResponse;
  /** As JSON. */
  readonly snapshot: () => string;
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Told why the stream could not go on; its connection is ended then, and the browser asks again. */
  readonly onError: (error: unknown) => void;
}

/** A stream of frames to one viewer. */
export class Viewer {
  readonly #parts: ViewerParts;
  #limit = MOST_UNREAD;
  #isBehind = false;
  #patience: unknown;

  /** Sends a snapshot at once. */
  constructor(parts: ViewerParts) {
    this.#parts = parts;
    this.#begin();
    parts.response.on('drain', () => this.#catchUp());
  }

  /** Sends what all viewers are sent. */
  send(text: string): void {
    if (this.#isBehind) return;
    if (this.#parts.response.writableLength > this.#limit) this.#isBehind = true;
    else this.#write(text);
  }

  /** Nothing waits any more. */
  end(): void {
    this.#parts.clock.clearTimeout(this.#patience);
    this.#patience = undefined;
  }

  #catchUp(): void {
    this.end();
    if (!this.#isBehind) return;
    this.#isBehind = false;
    try {
      this.#begin();
    } catch (error) {
      // Called by the connection itself: nobody else hears of it.
      this.#parts.onError(error);
      this.#parts.response.destroy();
    }
  }

  #begin(): void {
    this.#write(eventText('snapshot', this.#parts.snapshot()));
    this.#limit = this.#parts.response.writableLength + MOST_UNREAD;
  }

  #write(text: string): void {
    const { response, clock } = this.#parts;
    if (response.write(text)) return;
    this.#patience ??= clock.setTimeout(() => response.destroy(), MOST_BEHIND_MS);
  }
}
