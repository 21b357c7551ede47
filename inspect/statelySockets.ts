/** The WebSockets of those who follow the actors in the Stately inspector's protocol. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Clock, every } from '../base/clock.ts';
import type { Audience } from './audience.ts';
import type { ShownTree } from './shown.ts';
import { actorsNow, statelyEvent } from './stately.ts';
import { StatelyFollower } from './statelyFollower.ts';

interface StatelyParts {
  readonly audience: Audience;
  readonly trees: () => Iterable<ShownTree>;
  readonly clock: Clock;
}

/** So many may follow at a time. */
const MOST_SOCKETS = 8;
/** They have nothing to say. */
const MOST_HEARD = 1024;
/** Who does not answer from one to the next is not there any more, in milliseconds. */
const PING_MS = 30_000;

/** Follows the actors for as long as there is a socket. */
export class StatelySockets {
  readonly #parts: StatelyParts;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MOST_HEARD, perMessageDeflate: false });
  readonly #followers = new Map<WebSocket, StatelyFollower>();
  #leave: (() => void) | undefined;

  constructor(parts: StatelyParts) {
    this.#parts = parts;
  }

  /** Takes over a connection that asks to become a WebSocket. */
  add(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    if (this.#followers.size >= MOST_SOCKETS) {
      const text = 'HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n';
      connection.end(text, () => connection.destroy());
      return;
    }
    this.#server.handleUpgrade(request, connection, head, (socket) => this.#begin(socket));
  }

  close(): void {
    for (const socket of this.#followers.keys()) socket.close(1001);
    this.#server.close();
    this.#stop();
  }

  #begin(socket: WebSocket): void {
    const { trees, clock } = this.#parts;
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#followers.delete(socket);
      if (this.#followers.size === 0) this.#stop();
    });
    this.#followers.set(socket, new StatelyFollower(socket, actorsNow(trees(), clock.now())));
    this.#leave ??= this.#follow();
  }

  #follow(): () => void {
    const { audience, clock } = this.#parts;
    const leave = audience.add({
      inspect: (event) => {
        const told = statelyEvent(event, clock.now());
        if (told === undefined) return;
        const text = JSON.stringify(told);
        for (const follower of this.#followers.values()) follower.tell(text);
      },
    });
    const rest = every(clock, PING_MS, () => {
      for (const follower of this.#followers.values()) follower.ping();
    });
    return () => {
      leave();
      rest();
    };
  }

  #stop(): void {
    this.#leave?.();
    this.#leave = undefined;
  }
}
