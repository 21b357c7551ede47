/** Counts the steps of a simulation: what enters the actors, with everything that follows from it. */
import type { InspectionEvent } from 'xstate';

export class Steps {
  /** How often something has entered that changed a snapshot; whoever makes a call has changed with it. */
  count = 0;
  readonly #snapshots = new WeakMap<InspectionEvent['actorRef'], unknown>();
  /** Whether what has entered last has changed nothing yet. */
  #isWaiting = false;

  /** Something has been recorded: it takes effect in the next microtask, and until the next that was recorded does. */
  entered(): void {
    queueMicrotask(() => {
      this.#isWaiting = true;
    });
  }

  /** An actor has taken an event, which may have left its snapshot as it was. */
  took({ actorRef, snapshot }: Extract<InspectionEvent, { type: '@xstate.snapshot' }>): void {
    if (this.#snapshots.get(actorRef) === snapshot) return;
    this.#snapshots.set(actorRef, snapshot);
    if (this.#isWaiting) this.count += 1;
    this.#isWaiting = false;
  }
}
