import { AddressPool } from './addresses.ts';
import { CallError } from './callError.ts';
import type { SandboxRecord } from './records.ts';

/** The pods' network: while it is not ready, no sandbox gets an address and none gives one back. */
export class Network {
  readonly #pool: AddressPool;
  #problem: string | undefined;
  #awaitsConfiguration = false;
  /** The addresses of the pods, once a client has sent them. */
  podCidr: string | undefined;

  readonly #additionalIps: (ip: string) => readonly string[];

  constructor(addresses: number, additionalIps: (ip: string) => readonly string[] = () => []) {
    this.#pool = new AddressPool(addresses);
    this.#additionalIps = additionalIps;
  }

  /** Why it is not ready; absent when it is. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Makes the network wait for the addresses of the pods, as that of a containerd with a `conf_template` does. */
  awaitConfiguration(): void {
    this.#awaitsConfiguration = true;
    this.fail();
  }

  /** Takes the addresses of the pods. As with containerd, no addresses change nothing. */
  configure(podCidr: string): void {
    if (podCidr === '') return;
    this.podCidr = podCidr;
    if (this.#awaitsConfiguration) this.recover();
    this.#awaitsConfiguration = false;
  }

  /** It is not ready any more, with what its plugin says about it. */
  fail(problem = 'cni plugin not initialized'): void {
    this.#problem = problem;
  }

  recover(): void {
    this.#problem = undefined;
  }

  /** Changes how many pods can have an address at a time; those that have one keep it. */
  limitAddresses(count: number): void {
    this.#pool.limit(count);
  }

  /** Assigns a sandbox its addresses. */
  attach(sandbox: SandboxRecord): void {
    this.#requireReady('setup', sandbox);
    sandbox.ip = this.#pool.take(sandbox.id);
    sandbox.additionalIps = this.#additionalIps(sandbox.ip);
  }

  /** Takes a sandbox off the network, as often as it is asked to. */
  detach(sandbox: SandboxRecord): void {
    this.#requireReady('destroy', sandbox);
    this.release(sandbox);
  }

  /** Takes back a sandbox's address in any case. */
  release(sandbox: SandboxRecord): void {
    if (sandbox.ip !== undefined) this.#pool.giveBack(sandbox.ip);
    delete sandbox.ip;
    sandbox.additionalIps = [];
  }

  #requireReady(what: string, { id }: SandboxRecord): void {
    if (this.#problem === undefined) return;
    throw new CallError('UNKNOWN', `failed to ${what} network for sandbox "${id}": ${this.#problem}`);
  }
}
