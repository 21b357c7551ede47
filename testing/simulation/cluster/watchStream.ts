/** A watch on its way from an API server in memory to its client. */

export class WatchStream {
  readonly #lines: string[] = [];
  /** How it has ended; empty: it goes on. */
  #ended: 'end' | Error | undefined;
  #isSilent = false;
  #wake = () => {};

  /** What comes from now on gets lost, also its end. */
  silence(): void {
    this.#isSilent = true;
  }

  push(line: string): void {
    if (!this.#isSilent) this.#lines.push(line);
    this.#wake();
  }

  /** The server has ended it. */
  end(): void {
    if (!this.#isSilent) this.#endWith('end');
  }

  /** Its connection breaks. */
  cut(error: Error): void {
    this.#endWith(error);
  }

  #endWith(how: 'end' | Error): void {
    this.#ended ??= how;
    this.#wake();
  }

  /** What the client reads, until it has ended. */
  async *read(): AsyncGenerator<string> {
    while (this.#ended === undefined || this.#lines.length > 0) {
      const line = this.#lines.shift();
      if (line !== undefined) yield line;
      else
        await new Promise<void>((done) => {
          this.#wake = done;
        });
    }
    if (this.#ended !== 'end') throw this.#ended;
  }
}
