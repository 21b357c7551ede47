/** A text that is read from its beginning, by patterns that are sticky (`/…/y`). */
export class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** What is still to be read. */
  get rest(): string {
    return this.#text.slice(this.#at);
  }

  /** What a pattern finds here, which stays to be read. */
  look(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text) ?? undefined;
  }

  /** What a pattern finds here. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    const found = this.look(pattern);
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  /** Whether a pattern was here, which is read then. */
  skip(pattern: RegExp): boolean {
    return this.take(pattern) !== undefined;
  }
}
