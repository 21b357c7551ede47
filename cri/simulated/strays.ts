import type { NameRegister } from './names.ts';
import type { Network } from './network.ts';
import type { ContainerRecord, Records, SandboxRecord } from './records.ts';
import type { SimulatedContainer, SimulatedSandbox } from './views.ts';

/** Picks sandboxes and containers. */
export type Picks = (each: SimulatedSandbox | SimulatedContainer) => boolean;

/** The names in use of both. */
export interface Names {
  readonly sandboxes: NameRegister;
  readonly containers: NameRegister;
}

/**
 * What the runtime has forgotten, because its store was lost or it could not read all of it when it started: processes
 * run on without its knowing, addresses stay taken, and names are free again.
 */
export class Strays {
  readonly sandboxes = new Set<SandboxRecord>();
  readonly containers = new Set<ContainerRecord>();
  readonly #records: Records;
  readonly #names: Names;
  readonly #network: Network;

  constructor(records: Records, names: Names, network: Network) {
    this.#records = records;
    this.#names = names;
    this.#network = network;
  }

  forget(picks: Picks): void {
    this.#giveUpEnded();
    move(this.#records.sandboxes, this.sandboxes, this.#names.sandboxes, picks);
    move(this.#records.containers, this.containers, this.#names.containers, picks);
  }

  /** What has ended by the next loss nobody finds again. */
  #giveUpEnded(): void {
    for (const container of this.containers) if (container.life.state === 'exited') this.containers.delete(container);
    for (const sandbox of this.sandboxes) {
      if (sandbox.ready) continue;
      this.sandboxes.delete(sandbox);
      this.#network.release(sandbox);
    }
  }

  /** The runtime finds again what it had forgotten, except where another has the name now, of it or of its sandbox. */
  recall(): void {
    const { sandboxes, containers } = this.#records;
    moveBack(this.sandboxes, sandboxes, this.#names.sandboxes, () => true);
    moveBack(this.containers, containers, this.#names.containers, ({ sandbox }) => sandboxes.has(sandbox.id));
  }
}

function move<R extends SandboxRecord | ContainerRecord>(
  known: Map<string, R>,
  strays: Set<R>,
  names: NameRegister,
  picks: Picks,
): void {
  for (const record of known.values()) {
    if (!picks(record)) continue;
    known.delete(record.id);
    names.release(record.reservedName);
    strays.add(record);
  }
}

function moveBack<R extends SandboxRecord | ContainerRecord>(
  strays: Set<R>,
  known: Map<string, R>,
  names: NameRegister,
  isPossible: (record: R) => boolean,
): void {
  for (const record of strays) {
    if (!names.isFree(record.reservedName) || !isPossible(record)) continue;
    strays.delete(record);
    names.reserve(record.reservedName, record.id);
    known.set(record.id, record);
  }
}
