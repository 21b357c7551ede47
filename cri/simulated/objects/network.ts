import { CallError } from '../faults/callError.ts';
import { AddressPool } from './addressPool.ts';
import type { SandboxRecord } from './records.ts';

/** The pod network. While it is not ready, sandboxes neither get IP addresses nor release them. */
export class Network {
  readonly #pool: AddressPool;
  #problem: string | undefined;
  #isUnconfigured = false;
  /** The pod CIDR that a client has sent. Undefined until a client sends one. */
  podCidr: string | undefined;

  readonly #getAdditionalIps: (ip: string) => readonly string[];

  constructor(addresses: number, additionalIps: (ip: string) => readonly string[] = () => []) {
    this.#pool = new AddressPool(addresses);
    this.#getAdditionalIps = additionalIps;
  }

  /** The reason why the network is not ready, or undefined if it is ready. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Makes the network not ready until the pod CIDR is configured, like a containerd with a `conf_template`. */
  awaitConfiguration(): void {
    this.#isUnconfigured = true;
    this.fail();
  }

  /** Sets the pod CIDR. Like containerd, ignores an empty one. */
  configure(podCidr: string): void {
    if (podCidr === '') return;
    this.podCidr = podCidr;
    if (this.#isUnconfigured) this.recover();
    this.#isUnconfigured = false;
  }

  /** Makes the network not ready. `problem` is the error of the CNI plugin. */
  fail(problem = 'cni plugin not initialized'): void {
    this.#problem = problem;
  }

  recover(): void {
    this.#problem = undefined;
  }

  /** Changes the number of IP addresses that can be in use. Assigned addresses stay valid. */
  limitAddresses(count: number): void {
    this.#pool.resize(count);
  }

  /** Assigns IP addresses to a sandbox. */
  attach(sandbox: SandboxRecord): void {
    this.#assertReady('setup', sandbox);
    sandbox.ip = this.#pool.allocate(sandbox.id);
    sandbox.additionalIps = this.#getAdditionalIps(sandbox.ip);
  }

  /** Detaches a sandbox from the network. Idempotent. */
  detach(sandbox: SandboxRecord): void {
    this.#assertReady('destroy', sandbox);
    this.release(sandbox);
  }

  /** Releases the IP addresses of a sandbox even if the network is not ready. */
  release(sandbox: SandboxRecord): void {
    if (sandbox.ip !== undefined) this.#pool.release(sandbox.ip);
    delete sandbox.ip;
    sandbox.additionalIps = [];
  }

  #assertReady(action: string, { id }: SandboxRecord): void {
    if (this.#problem === undefined) return;
    throw new CallError('UNKNOWN', `failed to ${action} network for sandbox "${id}": ${this.#problem}`);
  }
}
