import type { Container, PodSandbox } from '../generated/runtime.ts';
import { listedContainer, listedSandbox, type Records } from './records.ts';

/** Everything that the runtime lists. */
export interface Listed {
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}

/** What lists show: everything there is, or what there was when they were frozen. */
export class Lists {
  readonly #records: Records;
  #frozen: Listed | undefined;
  #random: (() => number) | undefined;

  constructor(records: Records) {
    this.#records = records;
  }

  /** Lists show what is there now until they are thawed, whatever happens meanwhile. */
  freeze(): void {
    this.#frozen = { sandboxes: this.#sandboxesNow(), containers: this.#containersNow() };
  }

  thaw(): void {
    this.#frozen = undefined;
  }

  /** Lists that are frozen show from now on what is there now. */
  renew(): void {
    if (this.#frozen) this.freeze();
  }

  /** Lists come in another order each time, as a real runtime's, drawn from numbers in [0, 1); absent: by age again. */
  shuffle(random?: () => number): void {
    this.#random = random;
  }

  sandboxes(): readonly PodSandbox[] {
    return shuffled(this.#frozen?.sandboxes ?? this.#sandboxesNow(), this.#random);
  }

  containers(): readonly Container[] {
    return shuffled(this.#frozen?.containers ?? this.#containersNow(), this.#random);
  }

  /** Whether lists show the container of an id, where there is one. */
  showsContainer(containerId: string): boolean {
    return this.#frozen?.containers.some(({ id }) => id === containerId) ?? true;
  }

  /** Whether lists show the sandbox of an id, where there is one. */
  showsSandbox(sandboxId: string): boolean {
    return this.#frozen?.sandboxes.some(({ id }) => id === sandboxId) ?? true;
  }

  #sandboxesNow(): PodSandbox[] {
    return Array.from(this.#records.sandboxes.values(), listedSandbox);
  }

  #containersNow(): Container[] {
    return Array.from(this.#records.containers.values(), listedContainer);
  }
}

function shuffled<T>(all: readonly T[], random: (() => number) | undefined): readonly T[] {
  if (random === undefined) return all;
  const drawn = all.map((each) => ({ each, at: random() }));
  return drawn.sort((a, b) => a.at - b.at).map(({ each }) => each);
}
