/** One viewer's connection: frames as server-sent events. One that reads too slowly gets a new snapshot, and no backlog. */
import type { ServerResponse } from 'node:http';
import type { Snapshot } from './protocol.ts';

/** So much may wait to be read, in bytes, beyond the snapshot. */
const MOST_UNREAD = 2 ** 20;

/** An event of a stream, as it goes over the wire. */
export const eventText = (name: string, json: string): string => `event: ${name}\ndata: ${json}\n\n`;

/** A stream of frames to one viewer. */
export class Viewer {
  readonly #response: ServerResponse;
  readonly #snapshot: () => Snapshot;
  #limit = MOST_UNREAD;
  #isBehind = false;

  /** Sends a snapshot at once. */
  constructor(response: ServerResponse, snapshot: () => Snapshot) {
    this.#response = response;
    this.#snapshot = snapshot;
    this.#begin();
    response.on('drain', () => this.#catchUp());
  }

  /** Sends what all viewers are sent. */
  send(text: string): void {
    if (this.#isBehind) return;
    if (this.#response.writableLength > this.#limit) this.#isBehind = true;
    else this.#response.write(text);
  }

  #catchUp(): void {
    if (!this.#isBehind) return;
    this.#isBehind = false;
    this.#begin();
  }

  #begin(): void {
    this.#response.write(eventText('snapshot', JSON.stringify(this.#snapshot())));
    this.#limit = this.#response.writableLength + MOST_UNREAD;
  }
}
