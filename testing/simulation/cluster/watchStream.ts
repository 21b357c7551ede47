/** A watch connection between an API server in memory and its client. */

export class WatchStream {
  readonly #lines: string[] = [];
  /** The end of the watch, or the error that ended it. Undefined while the watch is open. */
  #outcome: 'end' | Error | undefined;
  #isSilent = false;
  #wake = () => {};

  /** Drops everything from now on, including the end of the watch. */
  silence(): void {
    this.#isSilent = true;
  }

  push(line: string): void {
    if (!this.#isSilent) this.#lines.push(line);
    this.#wake();
  }

  /** Ends the watch, as the server does after the timeout of the request. */
  end(): void {
    if (!this.#isSilent) this.#endWith('end');
  }

  /** Breaks the connection. */
  cut(error: Error): void {
    this.#endWith(error);
  }

  #endWith(how: 'end' | Error): void {
    this.#outcome ??= how;
    this.#wake();
  }

  /** Yields the lines until the watch has ended. */
  async *read(): AsyncGenerator<string> {
    while (this.#outcome === undefined || this.#lines.length > 0) {
      const line = this.#lines.shift();
      if (line !== undefined) yield line;
      else
        await new Promise<void>((done) => {
          this.#wake = done;
        });
    }
    if (this.#outcome !== 'end') throw this.#outcome;
  }
}
