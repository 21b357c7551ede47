/** Memory that files are read to, used again by whoever reads next: what is let go comes back only with a collection. */
export class Rooms {
  readonly #size: number;
  readonly #most: number;
  readonly #free: Buffer[] = [];
  #taken = 0;

  /** `most`: so many are kept, and given at a time where there is to be an end. */
  constructor(size: number, most: number) {
    this.#size = size;
    this.#most = most;
  }

  /** Undefined: as many are in use as are kept. */
  takeKept(): Buffer | undefined {
    return this.#taken < this.#most ? this.take() : undefined;
  }

  take(): Buffer {
    this.#taken += 1;
    return this.#free.pop() ?? Buffer.allocUnsafe(this.#size);
  }

  /** Nothing of it may be read any more. */
  give(room: Buffer): void {
    this.#taken -= 1;
    if (this.#free.length < this.#most) this.#free.push(room);
  }
}
