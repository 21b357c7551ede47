/** Forwards events from machines to a sink. */
import { type AnyActorRef, StateMachine } from 'xstate';
import type { Clock } from '../../base/time/clock.ts';
import type { RecordedEvent } from '../../kubernetes/events/recordedEvent.ts';
import type { MachineDecision } from '../../machines/shared/events/machineDecision.ts';

/** Receives events. `at` is in milliseconds since the epoch. */
export type EventSink = (event: RecordedEvent & { readonly at: number }) => void;

/** Returns a function that listens to the events of a new actor. Only state machines emit events. */
export function eventListener(sink: EventSink, clock: Pick<Clock, 'now'>): (ref: AnyActorRef) => void {
  const onEvent = (event: RecordedEvent) => sink({ ...event, at: clock.now() });
  return (ref) => {
    if ('logic' in ref && ref.logic instanceof StateMachine) ref.on('event.recorded', onEvent);
  };
}

/** Returns a function that listens to the decisions that an actor emits for the metrics. */
export function decisionListener(listener: (decision: MachineDecision) => void): (ref: AnyActorRef) => void {
  return (ref) => {
    if ('logic' in ref && ref.logic instanceof StateMachine) ref.on('decision.counted', listener);
  };
}
