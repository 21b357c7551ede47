/** Orders timers by their due time and, for equal times, in the order in which they were set. */

export interface ScheduledTimer {
  readonly due: number;
  readonly fn: () => void;
}

interface PendingTimer extends ScheduledTimer {
  readonly id: number;
}

/** Minimum size of the heap for a compaction, which removes all cleared timers. */
const MIN_COMPACTION_SIZE = 64;

/**
 * A binary heap. A cleared timer is removed when it reaches the top, or when more than half of all timers are cleared.
 * This prevents cleared timers with long delays from retaining their callbacks.
 */
export class TimerHeap {
  #timerHeap: PendingTimer[] = [];
  readonly #liveIds = new Set<number>();
  #lastId = 0;

  /** The number of pending timers. */
  get size(): number {
    return this.#liveIds.size;
  }

  /** Adds a timer and returns its ID for `clear`. */
  set(timer: ScheduledTimer): number {
    this.#lastId += 1;
    this.#liveIds.add(this.#lastId);
    this.#timerHeap.push({ ...timer, id: this.#lastId });
    this.#siftUp(this.#timerHeap.length - 1);
    return this.#lastId;
  }

  clear(id: number): void {
    if (this.#liveIds.delete(id) && this.#timerHeap.length > Math.max(MIN_COMPACTION_SIZE, 2 * this.#liveIds.size))
      this.#removeCleared();
  }

  /** The due time of the next timer. */
  get nextDue(): number | undefined {
    return this.#nextTimer()?.due;
  }

  /** Removes and returns the next timer. */
  next(): ScheduledTimer | undefined {
    const top = this.#nextTimer();
    if (top === undefined) return undefined;
    this.#liveIds.delete(top.id);
    this.#removeTop();
    return top;
  }

  #nextTimer(): PendingTimer | undefined {
    for (;;) {
      const [top] = this.#timerHeap;
      if (top === undefined || this.#liveIds.has(top.id)) return top;
      this.#removeTop();
    }
  }

  #removeCleared(): void {
    // Sort the remaining timers, because a sorted array is a valid heap.
    this.#timerHeap = this.#timerHeap
      .filter(({ id }) => this.#liveIds.has(id))
      .sort((a, b) => a.due - b.due || a.id - b.id);
  }

  #removeTop(): void {
    const lastTimer = this.#timerHeap.pop();
    if (lastTimer === undefined || this.#timerHeap.length === 0) return;
    this.#timerHeap[0] = lastTimer;
    this.#siftDown();
  }

  #siftUp(from: number): void {
    for (let index = from; index > 0; ) {
      const parentIndex = (index - 1) >> 1;
      if (!this.#swapIfLater(parentIndex, index)) return;
      index = parentIndex;
    }
  }

  #siftDown(): void {
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const earlierChild = this.#isDueLater(left, right) ? right : left;
      if (!this.#swapIfLater(index, earlierChild)) return;
      index = earlierChild;
    }
  }

  #swapIfLater(first: number, second: number): boolean {
    if (!this.#isDueLater(first, second)) return false;
    const [a, b] = [this.#timerHeap[first], this.#timerHeap[second]];
    if (a === undefined || b === undefined) return false;
    [this.#timerHeap[first], this.#timerHeap[second]] = [b, a];
    return true;
  }

  /** Whether the first timer is due after the second. False if either does not exist. */
  #isDueLater(first: number, second: number): boolean {
    const [a, b] = [this.#timerHeap[first], this.#timerHeap[second]];
    if (a === undefined || b === undefined) return false;
    return a.due > b.due || (a.due === b.due && a.id > b.id);
  }
}
