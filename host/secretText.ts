/** Storage for secrets that must not show up in a heap snapshot. */

/**
 * A secret in bytes outside the JavaScript heap. A heap snapshot contains the text of every string that is alive, but not the
 * contents of buffers. The string that `read` returns should not be stored.
 */
export class SecretText {
  readonly #bytes: Buffer;

  constructor(text: string) {
    this.#bytes = Buffer.from(text, 'utf8');
  }

  read(): string {
    return this.#bytes.toString('utf8');
  }
}
