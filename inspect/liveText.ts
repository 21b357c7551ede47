/** What goes on, as JSON: written out once for all who ask for it between two frames. */
import type { Clock } from '../base/clock.ts';
import type { Live } from './inspected.ts';

/** How long a snapshot is good for while nobody follows: as long as a frame waits. */
const ALONE_MS = 100;
/** While somebody follows a frame takes its place; where none could be made it is not to stay for ever. */
const FOLLOWED_MS = 1_000;

interface Kept {
  readonly json: string;
  readonly until: number;
}

/** A live node, as text. */
export class LiveText {
  readonly #live: Live;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #kept: Kept | undefined;
  #isFollowed = false;

  constructor(live: Live, clock: Pick<Clock, 'monotonic'>) {
    this.#live = live;
    this.#clock = clock;
  }

  /** While somebody follows it is what the last frame has left. */
  snapshot(): string {
    if (this.#kept && this.#clock.monotonic() < this.#kept.until) return this.#kept.json;
    const json = JSON.stringify(this.#live.snapshot());
    this.#kept = { json, until: this.#clock.monotonic() + (this.#isFollowed ? FOLLOWED_MS : ALONE_MS) };
    return json;
  }

  /** Tells of every frame, from a snapshot of this moment on, until the function that it gives is called. */
  follow(tell: (json: string) => void): () => void {
    this.#kept = undefined;
    this.#isFollowed = true;
    const leave = this.#live.follow((frame) => {
      this.#kept = undefined;
      tell(JSON.stringify(frame));
    });
    return () => {
      this.#kept = undefined;
      this.#isFollowed = false;
      leave();
    };
  }
}
