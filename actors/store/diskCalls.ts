/** Calls to a disk that may never answer: how many there are at a time, and how long each is waited for. */
import type { Clock } from '../../base/clock.ts';

/** So many are waited for at a time: each holds one of the few threads that all file access shares. */
const AWAITED = 2;

/**
 * With those that were left behind there are never more than so many: a quarter of the threads stays for all else. What is
 * to be written then waits until one of them has ended.
 */
const mostOf = (threads: number): number => Math.max(1, threads - Math.max(1, Math.floor(threads / 4)));

/** So long is one waited for, in milliseconds: a status waits longer for what it rests on, and so outlasts one that hangs. */
export const CALL_LIMIT_MS = 2_000;

/** A call, as it is seen by what it does. */
export interface DiskCall {
  /** Nobody waits for it any more. */
  readonly isLeft: boolean;
}

/** `left`: it has had its time, and goes on unseen; `unbegun`: it was not begun, because so many hang already. */
type Outcome = 'done' | 'left' | 'unbegun';

export class DiskCalls {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  readonly #queue: ((isTurn: boolean) => void)[] = [];
  #awaited = 0;
  #left = 0;

  /** `onEnd` is told when one that was left behind has ended after all. */
  constructor(threads: number, clock: Clock, onEnd: () => void) {
    this.#most = mostOf(threads);
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  /** Whether all that there may be hang. */
  get isStuck(): boolean {
    return this.#left >= this.#most;
  }

  /** Does it when its turn has come, and rejects where it fails in its time. */
  async run(act: (call: DiskCall) => Promise<void>): Promise<Outcome> {
    if (!(await this.#turn())) return 'unbegun';
    const call = { isLeft: false };
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimeout(() => {
        call.isLeft = true;
        this.#left += 1;
        resolve('left');
        this.#release();
      }, CALL_LIMIT_MS);
      const end = () => {
        if (call.isLeft) return this.#endLate();
        this.#clock.clearTimeout(timer);
        this.#release();
      };
      act(call)
        .then(() => resolve('done'), reject)
        .finally(end);
    });
  }

  #turn(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#queue.push(resolve);
      this.#admit();
    });
  }

  #admit(): void {
    while (this.#awaited < AWAITED && this.#awaited + this.#left < this.#most && this.#queue.length > 0) {
      this.#awaited += 1;
      this.#queue.shift()?.(true);
    }
    if (this.isStuck) for (const turn of this.#queue.splice(0)) turn(false);
  }

  #release(): void {
    this.#awaited -= 1;
    this.#admit();
  }

  #endLate(): void {
    this.#left -= 1;
    this.#admit();
    this.#onEnd();
  }
}
