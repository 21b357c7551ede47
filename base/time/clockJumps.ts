/**
 * Detects that the wall clock was adjusted or that the host was suspended. Both change the offset between the wall
 * clock and the monotonic clock.
 */
import { type Clock, startInterval } from './clock.ts';

const CHECK_INTERVAL_MS = 10_000;
/**
 * Minimum jump that is reported. Smaller changes are ignored, because time synchronization adjusts a clock gradually or
 * in small steps.
 */
const MIN_JUMP_MS = 60_000;

interface JumpListener {
  /** Last reported offset of the wall clock from the monotonic clock, in milliseconds. */
  offset: number;
  readonly onJump: (jumpMs: number) => void;
}

/** Shares one periodic check between all listeners. No check runs while there are no listeners. */
export class ClockJumps {
  readonly #clock: Clock;
  readonly #listeners = new Set<JumpListener>();
  #stopChecks = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Calls `onJump` with the size of each jump in milliseconds (negative if the clock was adjusted backwards), until the
   * returned function is called.
   */
  listen(onJump: JumpListener['onJump']): () => void {
    if (this.#listeners.size === 0)
      this.#stopChecks = startInterval(this.#clock, CHECK_INTERVAL_MS, () => this.#checkForJump());
    const listener = { offset: this.#offset(), onJump };
    this.#listeners.add(listener);
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#stopChecks();
    };
  }

  #offset(): number {
    return this.#clock.now() - this.#clock.monotonic();
  }

  #checkForJump(): void {
    const offset = this.#offset();
    for (const listener of [...this.#listeners]) {
      const jumpMs = offset - listener.offset;
      if (Math.abs(jumpMs) <= MIN_JUMP_MS || !this.#listeners.has(listener)) continue;
      listener.offset = offset;
      listener.onJump(jumpMs);
    }
  }
}
