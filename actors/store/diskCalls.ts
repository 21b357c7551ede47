/** Runs disk operations that may hang, with limits on their number and waiting time. */
import type { Clock } from '../../base/time/clock.ts';

/**
 * Maximum number of calls that are awaited at the same time. Each occupies one of the few threads shared by all file
 * access.
 */
const MAX_AWAITED_CALLS = 2;

/**
 * Returns the maximum number of calls, including abandoned ones. This number leaves a quarter of the threads for other
 * file access. Once it is reached, further writes wait until a call completes.
 */
const maxCalls = (threads: number): number => Math.max(1, threads - Math.max(1, Math.floor(threads / 4)));

/**
 * Time limit of a call in milliseconds. It must be shorter than the maximum time that a status waits until its facts
 * are durable.
 */
export const CALL_LIMIT_MS = 2_000;

/** State of a call, passed to the operation that it runs. */
export interface DiskCall {
  /** Whether the call has exceeded its time limit, in which case its result is ignored. */
  readonly isAbandoned: boolean;
}

/**
 * `abandoned` means that the call has timed out but may still complete. `notStarted` means that too many calls are
 * hanging already.
 */
type CallOutcome = 'done' | 'abandoned' | 'notStarted';

export class DiskCalls {
  readonly #maxCalls: number;
  readonly #clock: Clock;
  readonly #onLateEnd: () => void;
  readonly #waitingCalls: ((isAdmitted: boolean) => void)[] = [];
  #awaitedCount = 0;
  #abandonedCount = 0;

  /** `onLateEnd` is called whenever an abandoned call completes. */
  constructor(threads: number, clock: Clock, onLateEnd: () => void) {
    this.#maxCalls = maxCalls(threads);
    this.#clock = clock;
    this.#onLateEnd = onLateEnd;
  }

  /** Whether the maximum number of calls are hanging, in which case no further call can start. */
  get isStuck(): boolean {
    return this.#abandonedCount >= this.#maxCalls;
  }

  /** Runs an operation once a slot is free. Rejects if the operation fails within the time limit. */
  async run(operation: (call: DiskCall) => Promise<void>): Promise<CallOutcome> {
    if (!(await this.#acquireSlot())) return 'notStarted';
    const diskCall = { isAbandoned: false };
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimeout(() => {
        diskCall.isAbandoned = true;
        this.#abandonedCount += 1;
        resolve('abandoned');
        this.#release();
      }, CALL_LIMIT_MS);
      const onSettled = () => {
        if (diskCall.isAbandoned) return this.#onLateCompletion();
        this.#clock.clearTimeout(timer);
        this.#release();
      };
      operation(diskCall)
        .then(() => resolve('done'), reject)
        .finally(onSettled);
    });
  }

  #acquireSlot(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waitingCalls.push(resolve);
      this.#admitNext();
    });
  }

  #admitNext(): void {
    while (
      this.#awaitedCount < MAX_AWAITED_CALLS &&
      this.#awaitedCount + this.#abandonedCount < this.#maxCalls &&
      this.#waitingCalls.length > 0
    ) {
      this.#awaitedCount += 1;
      this.#waitingCalls.shift()?.(true);
    }
    if (this.isStuck) for (const admit of this.#waitingCalls.splice(0)) admit(false);
  }

  #release(): void {
    this.#awaitedCount -= 1;
    this.#admitNext();
  }

  #onLateCompletion(): void {
    this.#abandonedCount -= 1;
    this.#admitNext();
    this.#onLateEnd();
  }
}
