/** Reads text from start to end with sticky patterns (`/…/y`). */
export class Scanner {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#text.length;
  }

  get rest(): string {
    return this.#text.slice(this.#position);
  }

  /** Returns the match at the current position without consuming it. */
  peek(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#position;
    return pattern.exec(this.#text) ?? undefined;
  }

  /** Returns the match at the current position and consumes it. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    const match = this.peek(pattern);
    this.#position += match?.[0].length ?? 0;
    return match;
  }

  /** Consumes a match at the current position. Returns whether there was one. */
  skip(pattern: RegExp): boolean {
    return this.take(pattern) !== undefined;
  }
}
