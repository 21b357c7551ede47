import { CallError } from '../faults/callError.ts';

/**
 * Pool of IPv4 addresses for pods. Assigns consecutive addresses, starting at 10.88.0.2. A released address is
 * therefore not reused immediately.
 */
export class AddressPool {
  #size: number;
  readonly #used = new Set<number>();
  #next = 0;

  /** Creates a pool of `size` addresses, at most 65,000. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Changes the number of addresses that can be in use. Assigned addresses stay valid. */
  resize(size: number): void {
    this.#size = size;
  }

  allocate(sandboxId: string): string {
    if (this.#used.size >= this.#size) throw exhaustedError(sandboxId);
    this.#next %= this.#size;
    while (this.#used.has(this.#next)) this.#next = (this.#next + 1) % this.#size;
    const index = this.#next;
    this.#used.add(index);
    this.#next = (index + 1) % this.#size;
    return `10.88.${(index + 2) >> 8}.${(index + 2) & 255}`;
  }

  release(address: string): void {
    const [, , high, low] = address.split('.').map(Number);
    this.#used.delete((high ?? 0) * 256 + (low ?? 0) - 2);
  }
}

function exhaustedError(sandboxId: string): CallError {
  const message =
    `failed to setup network for sandbox "${sandboxId}": plugin type="bridge" failed (add): ` +
    'failed to allocate for range 0: no IP addresses available in range set: 10.88.0.1-10.88.255.254';
  return new CallError('UNKNOWN', message);
}
