import { CallError } from './callError.ts';

/** The pods' IPv4 addresses, given out in turn from 10.88.0.2 on, so that one given back is not reused at once. */
export class AddressPool {
  #size: number;
  readonly #used = new Set<number>();
  #next = 0;

  /** `size` is how many pods can have one at a time, at most 65,000. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Changes how many pods can have one at a time; those that have one keep it. */
  limit(size: number): void {
    this.#size = size;
  }

  take(sandboxId: string): string {
    if (this.#used.size >= this.#size) throw exhausted(sandboxId);
    this.#next %= this.#size;
    while (this.#used.has(this.#next)) this.#next = (this.#next + 1) % this.#size;
    const taken = this.#next;
    this.#used.add(taken);
    this.#next = (taken + 1) % this.#size;
    return `10.88.${(taken + 2) >> 8}.${(taken + 2) & 255}`;
  }

  giveBack(address: string): void {
    const [, , high, low] = address.split('.').map(Number);
    this.#used.delete((high ?? 0) * 256 + (low ?? 0) - 2);
  }
}

function exhausted(sandboxId: string): CallError {
  const message =
    `failed to setup network for sandbox "${sandboxId}": plugin type="bridge" failed (add): ` +
    'failed to allocate for range 0: no IP addresses available in range set: 10.88.0.1-10.88.255.254';
  return new CallError('UNKNOWN', message);
}
