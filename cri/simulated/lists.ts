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

  sandboxes(): readonly PodSandbox[] {
    return this.#frozen?.sandboxes ?? this.#sandboxesNow();
  }

  containers(): readonly Container[] {
    return this.#frozen?.containers ?? this.#containersNow();
  }

  #sandboxesNow(): PodSandbox[] {
    return Array.from(this.#records.sandboxes.values(), listedSandbox);
  }

  #containersNow(): Container[] {
    return Array.from(this.#records.containers.values(), listedContainer);
  }
}
