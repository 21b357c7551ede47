import { CallError } from '../faults/callError.ts';

/**
 * Pool of IPv4 addresses for pods. Assigns consecutive addresses, starting at 10.88.0.2. A released address is
 * therefore not reused immediately.
 */
export class AddressPool {
  #size: number;
  readonly #usedOffsets = new Set<number>();
  #nextOffset = 0;

  /** Creates a pool of `size` addresses, at most 65,000. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Changes the number of addresses that can be in use. Assigned addresses stay valid. */
  resize(size: number): void {
    this.#size = size;
  }

  allocate(sandboxId: string): string {
    if (this.#usedOffsets.size >= this.#size) throw exhaustedError(sandboxId);
    this.#nextOffset %= this.#size;
    while (this.#usedOffsets.has(this.#nextOffset)) this.#nextOffset = (this.#nextOffset + 1) % this.#size;
    const index = this.#nextOffset;
    this.#usedOffsets.add(index);
    this.#nextOffset = (index + 1) % this.#size;
    return `10.88.${(index + 2) >> 8}.${(index + 2) & 255}`;
  }

  release(address: string): void {
    const [, , high, low] = address.split('.').map(Number);
    this.#usedOffsets.delete((high ?? 0) * 256 + (low ?? 0) - 2);
  }
}

function exhaustedError(sandboxId: string): CallError {
  const message =
    `failed to setup network for sandbox "${sandboxId}": plugin type="bridge" failed (add): ` +
    'failed to allocate for range 0: no IP addresses available in range set: 10.88.0.1-10.88.255.254';
  return new CallError('UNKNOWN', message);
}
