/** The states of the machines that simulations have entered, and the transitions that they have taken. */
import { type AnyStateMachine, type AnyStateNode, type InspectionEvent, StateMachine } from 'xstate';
import { type KnownTransition, keyOf, statesOf, takenKey, transitionsOf } from './transitions.ts';

/** The coverage of one machine. */
export interface MachineCoverage {
  readonly machine: string;
  readonly states: readonly string[];
  readonly transitions: readonly KnownTransition[];
  readonly missedStates: readonly string[];
  readonly missed: readonly KnownTransition[];
}

export class Coverage {
  readonly #taken = new Map<string, number>();
  readonly #entered = new Set<string>();

  /** Records an inspection event. */
  readonly note = (event: InspectionEvent): void => {
    if (event.type === '@xstate.actor' || event.type === '@xstate.snapshot') this.#enter(event.actorRef);
    if (event.type !== '@xstate.microstep') return;
    for (const transition of event._transitions) {
      const key = takenKey(transition.source, transition.eventType, transition);
      this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
      // No snapshot shows a state that is left immediately.
      this.#entered.add(stateKey(transition.source));
    }
    this.#enter(event.actorRef, event.snapshot);
  };

  of(machine: AnyStateMachine): MachineCoverage {
    const [states, transitions] = [statesOf(machine), transitionsOf(machine)];
    return {
      machine: machine.id,
      states,
      transitions,
      missedStates: states.filter((state) => !this.#entered.has(`${machine.id} ${state}`)),
      missed: transitions.filter((transition) => !this.#taken.has(keyOf(transition))),
    };
  }

  #enter(ref: InspectionEvent['actorRef'], snapshot: unknown = ref.getSnapshot()): void {
    if (typeof snapshot !== 'object' || snapshot === null) return;
    const machine: unknown = Reflect.get(snapshot, 'machine');
    if (!(machine instanceof StateMachine)) return;
    // The snapshots of a state machine have these nodes.
    const nodes = Reflect.get(snapshot, '_nodes') as readonly AnyStateNode[];
    for (const node of nodes) this.#entered.add(stateKey(node));
  }
}

const stateKey = ({ machine, path }: AnyStateNode): string => `${machine.id} ${path.join('.')}`;
