/** All who look at what goes on. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../base/clock.ts';
import type { LiveText } from './liveText.ts';
import { eventText, Viewer } from './viewer.ts';

interface ViewersParts {
  readonly live: LiveText;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** So many may look at a time. */
const MOST_VIEWERS = 16;

/** Follows the node for as long as there is a viewer. */
export class Viewers {
  readonly #parts: ViewersParts;
  readonly #viewers = new Map<Viewer, ServerResponse>();
  #leave: (() => void) | undefined;

  constructor(parts: ViewersParts) {
    this.#parts = parts;
  }

  /** Why it cannot be one more; undefined where it is one, or has gone while its answer was made. */
  add(request: IncomingMessage, response: ServerResponse): string | undefined {
    // Whoever has gone is not told so again.
    if (response.closed || request.socket.destroyed) return undefined;
    // It would wait for the end of the answer before it, and of its own end nobody would be told.
    if (response.socket === null) return 'a stream cannot be asked for before the last answer has come';
    if (this.#viewers.size >= MOST_VIEWERS) return `${MOST_VIEWERS} are looking already`;
    this.#begin(request, response);
    return undefined;
  }

  close(): void {
    for (const [viewer, response] of this.#viewers) {
      response.end();
      this.#remove(viewer);
    }
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    const { live, clock, onError } = this.#parts;
    try {
      this.#leave ??= live.follow((json) => this.#tell(json));
      // One that cannot be made is an answer by itself, as long as none has begun.
      live.snapshot();
    } catch (error) {
      this.#rest();
      throw error;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    const viewer = new Viewer({ response, clock, onError, snapshot: () => live.snapshot() });
    this.#viewers.set(viewer, response);
    const remove = () => this.#remove(viewer);
    response.on('close', remove);
    request.socket.once('close', remove);
  }

  /** Written out once, for all. */
  #tell(json: string): void {
    const text = eventText('frame', json);
    for (const viewer of this.#viewers.keys()) viewer.send(text);
  }

  #remove(viewer: Viewer): void {
    viewer.end();
    this.#viewers.delete(viewer);
    this.#rest();
  }

  /** With nobody there, nobody follows. */
  #rest(): void {
    if (this.#viewers.size > 0) return;
    this.#leave?.();
    this.#leave = undefined;
  }
}
