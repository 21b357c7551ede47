/** Stores secrets that must not appear in heap snapshots. */

/**
 * A secret that is stored outside the JavaScript heap. A heap snapshot contains all live strings but not the contents
 * of buffers. The string that `read` returns should not be stored.
 */
export class Secret {
  readonly #bytes: Buffer;

  constructor(secret: string) {
    this.#bytes = Buffer.from(secret, 'utf8');
  }

  read(): string {
    return this.#bytes.toString('utf8');
  }
}
