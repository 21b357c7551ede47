/** How events leave the actors: whatever a machine emits goes to the sink with the time. */
import { type AnyActorRef, StateMachine } from 'xstate';
import type { Clock } from '../../base/clock.ts';
import type { RecordedEvent } from '../../kubernetes/events/recordedEvent.ts';
import type { MachineDecision } from '../../machines/shared/machineDecision.ts';

/** Where what happened goes; `at` is in milliseconds since the epoch. */
export type EventSink = (event: RecordedEvent & { readonly at: number }) => void;

/** Listens to an actor from its birth on; only machines have something to tell. */
export function eventListener(sink: EventSink, clock: Pick<Clock, 'now'>): (ref: AnyActorRef) => void {
  const hear = (event: RecordedEvent) => sink({ ...event, at: clock.now() });
  return (ref) => {
    if ('logic' in ref && ref.logic instanceof StateMachine) ref.on('event.recorded', hear);
  };
}

/** Listens to the decisions that an actor emits for the metrics. */
export function decisionListener(listener: (decision: MachineDecision) => void): (ref: AnyActorRef) => void {
  return (ref) => {
    if ('logic' in ref && ref.logic instanceof StateMachine) ref.on('decision.counted', listener);
  };
}
