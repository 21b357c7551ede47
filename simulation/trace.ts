/** A digest of all that happens in a simulation. */
import { createHash } from 'node:crypto';

export class Trace {
  readonly #hash = createHash('sha256');

  add(kind: string, what: unknown): void {
    this.#hash.update(`${kind} ${JSON.stringify(what, inJson)}\n`);
  }

  /** Of all that was added so far. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}

const inJson = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
