/** Timers in the order in which they are due, and of those due at one time in the order in which they were set. */

export interface Timer {
  readonly due: number;
  readonly fn: () => void;
}

interface Waiting extends Timer {
  readonly id: number;
}

/** With fewer it is not worth while to throw away what was cleared. */
const FEW = 64;

/**
 * A binary heap; what is cleared is thrown away when it comes to the top, or when it is more than half of all: a timer of
 * days that is cleared would else keep for days whatever it was to act on.
 */
export class Timers {
  #heap: Waiting[] = [];
  readonly #live = new Set<number>();
  #lastId = 0;

  /** How many wait. */
  get size(): number {
    return this.#live.size;
  }

  /** Gives the id that clears it. */
  set(timer: Timer): number {
    this.#lastId += 1;
    this.#live.add(this.#lastId);
    this.#heap.push({ ...timer, id: this.#lastId });
    this.#rise(this.#heap.length - 1);
    return this.#lastId;
  }

  clear(id: number): void {
    if (this.#live.delete(id) && this.#heap.length > Math.max(FEW, 2 * this.#live.size)) this.#compact();
  }

  /** When the next one is due. */
  get nextDue(): number | undefined {
    return this.#top()?.due;
  }

  /** Takes the next one out. */
  take(): Timer | undefined {
    const top = this.#top();
    if (top === undefined) return undefined;
    this.#live.delete(top.id);
    this.#drop();
    return top;
  }

  #top(): Waiting | undefined {
    for (;;) {
      const [top] = this.#heap;
      if (top === undefined || this.#live.has(top.id)) return top;
      this.#drop();
    }
  }

  #compact(): void {
    // What is sorted is a heap.
    this.#heap = this.#heap.filter(({ id }) => this.#live.has(id)).sort((a, b) => a.due - b.due || a.id - b.id);
  }

  #drop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink();
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const above = (at - 1) >> 1;
      if (!this.#swapIfLater(above, at)) return;
      at = above;
    }
  }

  #sink(): void {
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const next = this.#isLater(left, right) ? right : left;
      if (!this.#swapIfLater(at, next)) return;
      at = next;
    }
  }

  #swapIfLater(one: number, other: number): boolean {
    if (!this.#isLater(one, other)) return false;
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    [this.#heap[one], this.#heap[other]] = [b, a];
    return true;
  }

  /** Whether the first comes after the second; never after one that is not there. */
  #isLater(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    return a.due > b.due || (a.due === b.due && a.id > b.id);
  }
}
