/** What stands around an actor under test: the real gates and the real ledger, and somebody who hears its reports. */
import { type ActorRefFrom, createActor, type EventObject, fromTransition } from 'xstate';
import type { Ref } from '../../../machines/events.ts';
import { gateMachine } from '../../../machines/gate.ts';
import { ledgerMachine } from '../../../machines/ledger.ts';

export const START = Date.UTC(2026, 0, 1);

/** An actor that keeps every event that it is sent. */
export function ear<E extends EventObject>(): { readonly ref: Ref<E>; heard(): readonly E[] } {
  const actor = createActor(fromTransition((events: readonly E[], event: E) => [...events, event], []));
  actor.start();
  // It takes whatever it is sent.
  return { ref: actor as unknown as Ref<E>, heard: () => actor.getSnapshot().context };
}

export function gate(capacity: number): ActorRefFrom<typeof gateMachine> {
  return createActor(gateMachine, { input: { capacity } }).start();
}

export function ledger(capacity = { cpuMillis: 4_000, memoryBytes: 8 * 2 ** 30, pods: 110 }) {
  return createActor(ledgerMachine, { input: { capacity } }).start();
}

/** Who holds a slot of a gate, and who waits for one. */
export function queueOf(ref: ActorRefFrom<typeof gateMachine>): { held: string[]; queue: string[] } {
  const { held, queue } = ref.getSnapshot().context;
  return { held: held.map(({ key }) => key), queue: queue.map(({ key }) => key) };
}
