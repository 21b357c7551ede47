/** Orders timers by their due time and, for equal times, in the order in which they were set. */

export interface Timer {
  readonly due: number;
  readonly fn: () => void;
}

interface PendingTimer extends Timer {
  readonly id: number;
}

/** Minimum number of timers for which removing cleared ones is worthwhile. */
const MIN_COMPACTION_SIZE = 64;

/**
 * A binary heap. A cleared timer is removed when it reaches the top, or when more than half of all timers are cleared.
 * This prevents cleared timers with long delays from retaining their callbacks.
 */
export class Timers {
  #heap: PendingTimer[] = [];
  readonly #liveIds = new Set<number>();
  #lastId = 0;

  /** The number of pending timers. */
  get size(): number {
    return this.#liveIds.size;
  }

  /** Adds a timer and returns its ID for `clear`. */
  set(timer: Timer): number {
    this.#lastId += 1;
    this.#liveIds.add(this.#lastId);
    this.#heap.push({ ...timer, id: this.#lastId });
    this.#siftUp(this.#heap.length - 1);
    return this.#lastId;
  }

  clear(id: number): void {
    if (this.#liveIds.delete(id) && this.#heap.length > Math.max(MIN_COMPACTION_SIZE, 2 * this.#liveIds.size))
      this.#compact();
  }

  /** The due time of the next timer. */
  get nextDue(): number | undefined {
    return this.#top()?.due;
  }

  /** Removes and returns the next timer. */
  next(): Timer | undefined {
    const top = this.#top();
    if (top === undefined) return undefined;
    this.#liveIds.delete(top.id);
    this.#removeTop();
    return top;
  }

  #top(): PendingTimer | undefined {
    for (;;) {
      const [top] = this.#heap;
      if (top === undefined || this.#liveIds.has(top.id)) return top;
      this.#removeTop();
    }
  }

  #compact(): void {
    // A sorted array is a heap.
    this.#heap = this.#heap.filter(({ id }) => this.#liveIds.has(id)).sort((a, b) => a.due - b.due || a.id - b.id);
  }

  #removeTop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#siftDown();
  }

  #siftUp(from: number): void {
    for (let index = from; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfLater(parent, index)) return;
      index = parent;
    }
  }

  #siftDown(): void {
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const next = this.#isLater(left, right) ? right : left;
      if (!this.#swapIfLater(index, next)) return;
      index = next;
    }
  }

  #swapIfLater(first: number, second: number): boolean {
    if (!this.#isLater(first, second)) return false;
    const [a, b] = [this.#heap[first], this.#heap[second]];
    if (a === undefined || b === undefined) return false;
    [this.#heap[first], this.#heap[second]] = [b, a];
    return true;
  }

  /** Whether the first timer is due after the second. False if either does not exist. */
  #isLater(first: number, second: number): boolean {
    const [a, b] = [this.#heap[first], this.#heap[second]];
    if (a === undefined || b === undefined) return false;
    return a.due > b.due || (a.due === b.due && a.id > b.id);
  }
}
