/** Serializes each snapshot and frame of a running node only once for all viewers. */
import type { Clock } from '../../base/time/clock.ts';
import type { LiveUpdates } from '../inspected.ts';

/**
 * Lifetime of the cached snapshot while there are no viewers, in milliseconds. It equals the interval between frames.
 */
const UNFOLLOWED_TTL_MS = 100;
/**
 * Maximum lifetime of the cached snapshot while there are viewers, in milliseconds. Each frame invalidates the
 * snapshot, so this limit only applies if frames cannot be created.
 */
const FOLLOWED_TTL_MS = 1_000;

interface CachedSnapshot {
  readonly json: string;
  readonly validUntil: number;
}

export class LiveText {
  readonly #live: LiveUpdates;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #cachedSnapshot: CachedSnapshot | undefined;
  #isFollowed = false;

  constructor(live: LiveUpdates, clock: Pick<Clock, 'monotonic'>) {
    this.#live = live;
    this.#clock = clock;
  }

  /** Returns the state as of the last frame if there is a viewer, otherwise the current state. The result is JSON. */
  snapshot(): string {
    if (this.#cachedSnapshot && this.#clock.monotonic() < this.#cachedSnapshot.validUntil)
      return this.#cachedSnapshot.json;
    const snapshotJson = JSON.stringify(this.#live.snapshot());
    this.#cachedSnapshot = {
      json: snapshotJson,
      validUntil: this.#clock.monotonic() + (this.#isFollowed ? FOLLOWED_TTL_MS : UNFOLLOWED_TTL_MS),
    };
    return snapshotJson;
  }

  /**
   * Calls `send` with each frame until the returned function is called. The first frame contains the changes since the
   * snapshot that `snapshot` returns at the time of the call.
   */
  follow(send: (json: string) => void): () => void {
    this.#cachedSnapshot = undefined;
    this.#isFollowed = true;
    const unfollow = this.#live.follow((frame) => {
      this.#cachedSnapshot = undefined;
      send(JSON.stringify(frame));
    });
    return () => {
      this.#cachedSnapshot = undefined;
      this.#isFollowed = false;
      unfollow();
    };
  }
}
