/** Counts the steps of a simulation. A step is an entry sent to the actors, with all its consequences. */
import type { InspectionEvent } from 'xstate';

export class Steps {
  /** The number of entries that changed a snapshot. */
  count = 0;
  readonly #snapshots = new WeakMap<InspectionEvent['actorRef'], unknown>();
  /** Whether the last entry has not changed any snapshot yet. */
  #isWaiting = false;

  /**
   * Called when an entry is recorded. The entry takes effect in the next microtask, and all changes until the next
   * entry are its consequences.
   */
  noteEntry(): void {
    queueMicrotask(() => {
      this.#isWaiting = true;
    });
  }

  /** Called when an actor has processed an event, which may not have changed its snapshot. */
  noteEvent({ actorRef, snapshot }: Extract<InspectionEvent, { type: '@xstate.snapshot' }>): void {
    if (this.#snapshots.get(actorRef) === snapshot) return;
    this.#snapshots.set(actorRef, snapshot);
    if (this.#isWaiting) this.count += 1;
    this.#isWaiting = false;
  }
}
