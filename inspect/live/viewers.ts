/** Manages the viewers of a running node. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../base/time/clock.ts';
import type { LiveText } from './liveText.ts';
import { formatServerSentEvent, Viewer } from './viewer.ts';

interface ViewersOptions {
  readonly live: LiveText;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Maximum number of viewers. Further ones are refused. */
const MAX_VIEWERS = 16;

/** Follows the node while there is a viewer. */
export class Viewers {
  readonly #options: ViewersOptions;
  readonly #viewers = new Map<Viewer, ServerResponse>();
  #unfollow: (() => void) | undefined;

  constructor(options: ViewersOptions) {
    this.#options = options;
  }

  /** Adds a viewer, or returns the reason for refusing it. Does nothing if the client has already disconnected. */
  add(request: IncomingMessage, response: ServerResponse): string | undefined {
    // Do not add the viewer, because a closed connection never emits the event that would remove it.
    if (response.closed || request.socket.destroyed) return undefined;
    // Refuse a pipelined request, because a response that waits for the previous one would not emit `close`.
    if (response.socket === null) return 'a stream cannot be asked for before the last answer has come';
    if (this.#viewers.size >= MAX_VIEWERS) return `${MAX_VIEWERS} are looking already`;
    this.#startViewer(request, response);
    return undefined;
  }

  close(): void {
    for (const [viewer, response] of this.#viewers) {
      response.end();
      this.#remove(viewer);
    }
  }

  #startViewer(request: IncomingMessage, response: ServerResponse): void {
    const { live, clock, onError } = this.#options;
    try {
      this.#unfollow ??= live.follow((json) => this.#sendFrame(json));
      // Create the snapshot before sending the headers, because afterwards an error could not be sent as a response.
      live.snapshot();
    } catch (error) {
      this.#stopIfUnwatched();
      throw error;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    const viewer = new Viewer({ response, clock, onError, snapshot: () => live.snapshot() });
    this.#viewers.set(viewer, response);
    const remove = () => this.#remove(viewer);
    response.on('close', remove);
    request.socket.once('close', remove);
  }

  /** Sends a frame to all viewers. The event is formatted only once. */
  #sendFrame(frameJson: string): void {
    const eventText = formatServerSentEvent('frame', frameJson);
    for (const viewer of this.#viewers.keys()) viewer.send(eventText);
  }

  #remove(viewer: Viewer): void {
    viewer.stopTimer();
    this.#viewers.delete(viewer);
    this.#stopIfUnwatched();
  }

  /** Stops following the node if there are no viewers. */
  #stopIfUnwatched(): void {
    if (this.#viewers.size > 0) return;
    this.#unfollow?.();
    this.#unfollow = undefined;
  }
}
