/** Combines the onlookers of a node into the one that its parts take. */
import type { NodeParts } from '../../actors/node/nodeParts.ts';
import type { Audience } from '../../inspect/live/audience.ts';
import type { FlightRecorder } from '../../recording/flightRecorder.ts';

const KINDS = ['record', 'calls', 'answers', 'moves', 'inspect', 'events', 'decisions', 'serviceActions'] as const;
type Kind = (typeof KINDS)[number];

/** The listeners of a node's parts that only observe it. */
export type Onlookers = Partial<Pick<NodeParts, Kind>>;

/** Combines onlookers. Each notification goes to all of its listeners in order, and is omitted if it has none. */
export const onlookersOf = (all: readonly Onlookers[]): Onlookers =>
  Object.assign({}, ...KINDS.map((kind) => combined(kind, all)));

function combined(kind: Kind, all: readonly Onlookers[]): Onlookers {
  const listeners: readonly ((notification: never) => void)[] = all.flatMap((each) => each[kind] ?? []);
  const [only] = listeners;
  if (only === undefined) return {};
  // Each step of each actor is such a notification, so that several listeners must not cost an object each.
  const notifyAll = (notification: never) => {
    listeners.forEach((listener) => {
      listener(notification);
    });
  };
  return { [kind]: listeners.length === 1 ? only : notifyAll };
}

/**
 * The recorder of a node, if it has one, and its audience. Where nothing is recorded nobody is told of entries either: to
 * keep secrets out of them has its price. Nor then of calls, for nobody would hear of their answers.
 */
export function watchersOf(
  flight: Pick<FlightRecorder, 'listeners'> | undefined,
  { listeners }: Pick<Audience, 'listeners'>,
): readonly Onlookers[] {
  const { record: _, calls: __, ...silent } = listeners;
  return flight ? [flight.listeners, listeners] : [silent];
}
