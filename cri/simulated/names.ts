import { CallError } from './callError.ts';

/** The names in use: each is reserved for one id from the start of its making until it is removed. */
export class NameRegister {
  readonly #kind: string;
  readonly #idOf = new Map<string, string>();

  /** `kind` is for messages: `sandbox`. */
  constructor(kind: string) {
    this.#kind = kind;
  }

  /** Fails in containerd's words, and with its code, when the name is another's. */
  reserve(name: string, id: string): void {
    const owner = this.#idOf.get(name);
    if (owner !== undefined) {
      const message = `failed to reserve ${this.#kind} name "${name}": name "${name}" is reserved for "${owner}"`;
      throw new CallError('UNKNOWN', message);
    }
    this.#idOf.set(name, id);
  }

  isFree(name: string): boolean {
    return !this.#idOf.has(name);
  }

  release(name: string): void {
    this.#idOf.delete(name);
  }
}
