/**
 * Sends frames to one viewer as server-sent events. A viewer that reads too slowly receives a new snapshot instead of
 * the accumulated frames.
 */
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/time/clock.ts';

/**
 * Maximum number of unread bytes, in addition to the snapshot. If it is exceeded, a new snapshot replaces the unsent
 * frames.
 */
const MAX_UNREAD_BYTES = 2 ** 20;
/**
 * Maximum time that data may remain unread, in milliseconds. A viewer that exceeds it is disconnected to free its slot.
 */
const READ_TIMEOUT_MS = 30_000;

export const formatServerSentEvent = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`;

interface ViewerOptions {
  readonly response: ServerResponse;
  /** Returns the snapshot as JSON. */
  readonly snapshot: () => string;
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Called when the snapshot cannot be created. The connection is closed, and the browser reconnects. */
  readonly onError: (error: unknown) => void;
}

export class Viewer {
  readonly #options: ViewerOptions;
  #maxUnreadBytes = MAX_UNREAD_BYTES;
  #isBehind = false;
  #readTimer: unknown;

  /** Sends a snapshot immediately. */
  constructor(options: ViewerOptions) {
    this.#options = options;
    this.#sendSnapshot();
    options.response.on('drain', () => this.sendMissedFrames());
  }

  /** Sends an event. `text` is the serialized event, which is shared by all viewers. */
  send(text: string): void {
    if (this.#isBehind) return;
    if (this.#options.response.writableLength > this.#maxUnreadBytes) this.#isBehind = true;
    else this.#write(text);
  }

  /** Stops the timer that limits how long data may remain unread. */
  stopTimer(): void {
    this.#options.clock.clearTimeout(this.#readTimer);
    this.#readTimer = undefined;
  }

  sendMissedFrames(): void {
    this.stopTimer();
    if (!this.#isBehind) return;
    this.#isBehind = false;
    try {
      this.#sendSnapshot();
    } catch (error) {
      // Report the error here, because this event handler has no caller that could handle it.
      this.#options.onError(error);
      this.#options.response.destroy();
    }
  }

  #sendSnapshot(): void {
    this.#write(formatServerSentEvent('snapshot', this.#options.snapshot()));
    this.#maxUnreadBytes = this.#options.response.writableLength + MAX_UNREAD_BYTES;
  }

  #write(text: string): void {
    const { response, clock } = this.#options;
    if (response.write(text)) return;
    this.#readTimer ??= clock.setTimeout(() => response.destroy(), READ_TIMEOUT_MS);
  }
}
