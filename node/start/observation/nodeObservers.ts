import type { NodeParts } from '../../../actors/node/nodeParts.ts';
import type { Audience } from '../../../inspect/live/audience.ts';
import type { FlightRecorder } from '../../../recording/flightRecorder.ts';

const OBSERVER_KINDS = [
  'onInput',
  'onPortCall',
  'onPortOutcome',
  'onStateChange',
  'inspect',
  'events',
  'onDecision',
  'onServiceAction',
  'onRelisted',
] as const;
type ObserverKind = (typeof OBSERVER_KINDS)[number];

/** Listeners that observe a node without affecting it. */
export type NodeObservers = Partial<Pick<NodeParts, ObserverKind>>;

/**
 * Combines observers into one, which calls the listeners of each kind in the given order. A kind without listeners is
 * omitted.
 */
export const combineObservers = (observers: readonly NodeObservers[]): NodeObservers =>
  Object.assign({}, ...OBSERVER_KINDS.map((kind) => combineKind(kind, observers)));

function combineKind(kind: ObserverKind, observers: readonly NodeObservers[]): NodeObservers {
  const listeners: readonly ((notification: never) => void)[] = observers.flatMap((each) => each[kind] ?? []);
  const [only] = listeners;
  if (only === undefined) return {};
  // Called for each step of each actor, so this function must not allocate memory.
  const notifyAll = (notification: never) => {
    listeners.forEach((listener) => {
      listener(notification);
    });
  };
  return { [kind]: listeners.length === 1 ? only : notifyAll };
}

/**
 * Returns the observers of the flight recorder, if any, and of the page. Without a flight recorder, inputs are not
 * observed, because redacting them is costly. Calls are not observed either, because their responses are inputs.
 */
export function recorderAndPageObservers(
  flightRecorder: Pick<FlightRecorder, 'listeners'> | undefined,
  { listeners }: Pick<Audience, 'listeners'>,
): readonly NodeObservers[] {
  const { onInput: _, onPortCall: __, ...withoutEntries } = listeners;
  return flightRecorder ? [flightRecorder.listeners, listeners] : [withoutEntries];
}
