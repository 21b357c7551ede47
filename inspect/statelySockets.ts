/** The WebSockets of those who follow the actors in the Stately inspector's protocol. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Audience } from './audience.ts';
import type { ShownTree } from './shown.ts';
import { actorsNow, type StatelyEvent, statelyEvent } from './stately.ts';

interface StatelyParts {
  readonly audience: Audience;
  readonly trees: () => Iterable<ShownTree>;
  readonly now: () => number;
}

/** So many may follow at a time. */
const MOST_SOCKETS = 8;
/** So much may wait to be read, in bytes, beyond the actors that it begins with. */
const MOST_UNREAD = 2 ** 22;
/** They have nothing to say. */
const MOST_HEARD = 1024;

interface Follower {
  readonly limit: number;
  /** It has missed something: once it has read what waits it begins anew. */
  isBehind: boolean;
}

/** Follows the actors for as long as there is a socket. */
export class StatelySockets {
  readonly #parts: StatelyParts;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MOST_HEARD, perMessageDeflate: false });
  readonly #sockets = new Map<WebSocket, Follower>();
  #leave: (() => void) | undefined;

  constructor(parts: StatelyParts) {
    this.#parts = parts;
  }

  /** Takes over a connection that asks to become a WebSocket. */
  add(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    if (this.#sockets.size >= MOST_SOCKETS) {
      connection.end('HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n');
      return;
    }
    this.#server.handleUpgrade(request, connection, head, (socket) => this.#begin(socket));
  }

  close(): void {
    for (const socket of this.#sockets.keys()) socket.close(1001);
    this.#server.close();
    this.#stop();
  }

  #begin(socket: WebSocket): void {
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#stop();
    });
    this.#sendActors(socket);
    this.#sockets.set(socket, { limit: socket.bufferedAmount + MOST_UNREAD, isBehind: false });
    this.#leave ??= this.#parts.audience.add({
      inspect: (event) => {
        const told = statelyEvent(event, this.#parts.now());
        if (told) this.#tell(told);
      },
    });
  }

  #sendActors(socket: WebSocket): void {
    for (const actor of actorsNow(this.#parts.trees(), this.#parts.now())) socket.send(JSON.stringify(actor));
  }

  #tell(event: StatelyEvent): void {
    const text = JSON.stringify(event);
    for (const [socket, follower] of this.#sockets) {
      if (follower.isBehind && socket.bufferedAmount > 0) continue;
      if (follower.isBehind) this.#sendActors(socket);
      follower.isBehind = socket.bufferedAmount > follower.limit;
      if (!follower.isBehind) socket.send(text);
    }
  }

  #stop(): void {
    this.#leave?.();
    this.#leave = undefined;
  }
}
