import type { NameRegistry } from './nameRegistry.ts';
import type { Network } from './network.ts';
import type { ContainerRecord, RuntimeRecords, SandboxRecord } from './records.ts';
import type { SimulatedContainer, SimulatedSandbox } from './views.ts';

/** Selects sandboxes and containers. */
export type ObjectSelector = (object: SimulatedSandbox | SimulatedContainer) => boolean;

/** Names in use for sandboxes and for containers. */
export interface NameRegistries {
  readonly sandboxes: NameRegistry;
  readonly containers: NameRegistry;
}

/**
 * Objects whose records the runtime has lost, because its store was lost or partly unreadable when it started. Their
 * processes continue to run and their addresses stay allocated, but their names are free.
 */
export class Strays {
  readonly sandboxes = new Set<SandboxRecord>();
  readonly containers = new Set<ContainerRecord>();
  readonly #records: RuntimeRecords;
  readonly #nameRegistries: NameRegistries;
  readonly #network: Network;

  constructor(records: RuntimeRecords, names: NameRegistries, network: Network) {
    this.#records = records;
    this.#nameRegistries = names;
    this.#network = network;
  }

  forget(selector: ObjectSelector): void {
    this.#dropExited();
    moveToStrays(this.#records.sandboxes, this.sandboxes, this.#nameRegistries.sandboxes, selector);
    moveToStrays(this.#records.containers, this.containers, this.#nameRegistries.containers, selector);
  }

  /** Drops exited objects, which the runtime can no longer recover. */
  #dropExited(): void {
    for (const container of this.containers)
      if (container.lifecycle.state === 'exited') this.containers.delete(container);
    for (const sandbox of this.sandboxes) {
      if (sandbox.ready) continue;
      this.sandboxes.delete(sandbox);
      this.#network.release(sandbox);
    }
  }

  /** Recovers lost objects, unless their own name or that of their sandbox has been reused. */
  recall(): void {
    const { sandboxes, containers } = this.#records;
    moveFromStrays(this.sandboxes, sandboxes, this.#nameRegistries.sandboxes, () => true);
    moveFromStrays(this.containers, containers, this.#nameRegistries.containers, ({ sandbox }) =>
      sandboxes.has(sandbox.id),
    );
  }
}

function moveToStrays<R extends SandboxRecord | ContainerRecord>(
  recordsById: Map<string, R>,
  strays: Set<R>,
  nameRegistry: NameRegistry,
  selector: ObjectSelector,
): void {
  for (const record of recordsById.values()) {
    if (!selector(record)) continue;
    recordsById.delete(record.id);
    nameRegistry.release(record.reservedName);
    strays.add(record);
  }
}

function moveFromStrays<R extends SandboxRecord | ContainerRecord>(
  strays: Set<R>,
  recordsById: Map<string, R>,
  nameRegistry: NameRegistry,
  canRecover: (record: R) => boolean,
): void {
  for (const record of strays) {
    if (!nameRegistry.isFree(record.reservedName) || !canRecover(record)) continue;
    strays.delete(record);
    nameRegistry.reserve(record.reservedName, record.id);
    recordsById.set(record.id, record);
  }
}
