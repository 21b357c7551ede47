import { CallError } from '../faults/callError.ts';

/**
 * Registry of the names in use. A name is reserved for one ID from the start of the object's creation until its
 * removal.
 */
export class NameRegistry {
  readonly #kind: string;
  readonly #idsByName = new Map<string, string>();

  /** Creates a registry. `kind` is used in messages, e.g. `sandbox`. */
  constructor(kind: string) {
    this.#kind = kind;
  }

  /** Reserves a name. Throws containerd's error if the name is reserved for a different ID. */
  reserve(name: string, id: string): void {
    const owner = this.#idsByName.get(name);
    if (owner !== undefined) {
      const message = `failed to reserve ${this.#kind} name "${name}": name "${name}" is reserved for "${owner}"`;
      throw new CallError('UNKNOWN', message);
    }
    this.#idsByName.set(name, id);
  }

  isFree(name: string): boolean {
    return !this.#idsByName.has(name);
  }

  release(name: string): void {
    this.#idsByName.delete(name);
  }
}
