/** Serves WebSockets with the Stately inspector's protocol. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type Clock, startInterval } from '../../base/time/clock.ts';
import type { Audience } from '../live/audience.ts';
import type { ShownTree } from '../shown.ts';
import { describeActors, toStatelyEvent } from './stately.ts';
import { StatelyFollower } from './statelyFollower.ts';

interface StatelySocketsOptions {
  readonly audience: Audience;
  readonly trees: () => Iterable<ShownTree>;
  readonly clock: Clock;
}

/** Maximum number of clients. Further clients are refused. */
const MAX_SOCKETS = 8;
/** Maximum size of a message from a client, in bytes. No client needs to send messages. */
const MAX_MESSAGE_BYTES = 1024;
/** Interval between pings, in milliseconds. A client that has not responded by the next ping is disconnected. */
const PING_INTERVAL_MS = 30_000;

/** The connected clients. The node's actors are observed only while a client is connected. */
export class StatelySockets {
  readonly #options: StatelySocketsOptions;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  readonly #followers = new Map<WebSocket, StatelyFollower>();
  #unsubscribe: (() => void) | undefined;

  constructor(options: StatelySocketsOptions) {
    this.#options = options;
  }

  /** Accepts a WebSocket connection of an inspector, or refuses it if there are too many clients. */
  add(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    if (this.#followers.size >= MAX_SOCKETS) {
      const responseText = 'HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n';
      connection.end(responseText, () => connection.destroy());
      return;
    }
    this.#server.handleUpgrade(request, connection, head, (socket) => this.#addFollower(socket));
  }

  close(): void {
    for (const socket of this.#followers.keys()) socket.close(1001);
    this.#server.close();
    this.#stopObserving();
  }

  #addFollower(socket: WebSocket): void {
    const { trees, clock } = this.#options;
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#followers.delete(socket);
      if (this.#followers.size === 0) this.#stopObserving();
    });
    this.#followers.set(socket, new StatelyFollower(socket, describeActors(trees(), clock.now())));
    this.#unsubscribe ??= this.#observe();
  }

  #observe(): () => void {
    const { audience, clock } = this.#options;
    const leaveAudience = audience.add({
      inspect: (event) => {
        const statelyMessage = toStatelyEvent(event, clock.now());
        if (statelyMessage === undefined) return;
        const messageJson = JSON.stringify(statelyMessage);
        for (const follower of this.#followers.values()) follower.send(messageJson);
      },
    });
    const stopPings = startInterval(clock, PING_INTERVAL_MS, () => {
      for (const follower of this.#followers.values()) follower.ping();
    });
    return () => {
      leaveAudience();
      stopPings();
    };
  }

  #stopObserving(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }
}
