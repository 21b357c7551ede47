import type { Container, PodSandbox } from '../../generated/runtime.ts';
import { type RuntimeRecords, toListedContainer, toListedSandbox } from '../objects/records.ts';

export interface ListedObjects {
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

/** Results of list calls, which can be frozen in order to simulate stale lists. */
export class ListResults {
  readonly #records: RuntimeRecords;
  #frozenObjects: ListedObjects | undefined;
  #shuffleRandom: (() => number) | undefined;

  constructor(records: RuntimeRecords) {
    this.#records = records;
  }

  /** Freezes the lists in their current state until they are thawed. */
  freeze(): void {
    this.#frozenObjects = { sandboxes: this.#listSandboxes(), containers: this.#listContainers() };
  }

  thaw(): void {
    this.#frozenObjects = undefined;
  }

  /** Updates frozen lists to the current state. */
  refresh(): void {
    if (this.#frozenObjects) this.freeze();
  }

  /**
   * Randomizes the order of lists, as in a real runtime. `random` returns numbers in [0, 1). Without an argument,
   * restores the order by age.
   */
  shuffle(random?: () => number): void {
    this.#shuffleRandom = random;
  }

  sandboxes(): readonly PodSandbox[] {
    return shuffle(this.#frozenObjects?.sandboxes ?? this.#listSandboxes(), this.#shuffleRandom);
  }

  containers(): readonly Container[] {
    return shuffle(this.#frozenObjects?.containers ?? this.#listContainers(), this.#shuffleRandom);
  }

  /** Whether the lists contain this container. Lists that are not frozen contain every existing container. */
  showsContainer(containerId: string): boolean {
    return this.#frozenObjects?.containers.some(({ id }) => id === containerId) ?? true;
  }

  /** Whether the lists contain this sandbox. Lists that are not frozen contain every existing sandbox. */
  showsSandbox(sandboxId: string): boolean {
    return this.#frozenObjects?.sandboxes.some(({ id }) => id === sandboxId) ?? true;
  }

  #listSandboxes(): PodSandbox[] {
    return Array.from(this.#records.sandboxes.values(), toListedSandbox);
  }

  #listContainers(): Container[] {
    return Array.from(this.#records.containers.values(), toListedContainer);
  }
}

function shuffle<T>(items: readonly T[], random: (() => number) | undefined): readonly T[] {
  if (random === undefined) return items;
  const keyedItems = items.map((item) => ({ item, sortKey: random() }));
  return keyedItems.sort((a, b) => a.sortKey - b.sortKey).map(({ item }) => item);
}
