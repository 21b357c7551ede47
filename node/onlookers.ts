/** Several who look on at a node, as the one that its parts take. */
import type { NodeParts } from '../actors/nodeParts.ts';
import type { Audience } from '../inspect/audience.ts';
import type { FlightRecorder } from '../recording/flightRecorder.ts';

/** What of the parts only tells what happens. */
type Onlookers = Partial<
  Pick<NodeParts, 'record' | 'calls' | 'answers' | 'moves' | 'inspect' | 'events' | 'decisions' | 'deeds'>
>;

/** Tells each of them, in their order; what nobody wants to know is told to nobody, and costs nothing. */
export const onlookersOf = (all: readonly Onlookers[]): Onlookers => ({
  ...told(
    'record',
    all.flatMap(({ record }) => record ?? []),
  ),
  ...told(
    'calls',
    all.flatMap(({ calls }) => calls ?? []),
  ),
  ...told(
    'answers',
    all.flatMap(({ answers }) => answers ?? []),
  ),
  ...told(
    'moves',
    all.flatMap(({ moves }) => moves ?? []),
  ),
  ...told(
    'inspect',
    all.flatMap(({ inspect }) => inspect ?? []),
  ),
  ...told(
    'events',
    all.flatMap(({ events }) => events ?? []),
  ),
  ...told(
    'decisions',
    all.flatMap(({ decisions }) => decisions ?? []),
  ),
  ...told(
    'deeds',
    all.flatMap(({ deeds }) => deeds ?? []),
  ),
});

function told<K extends string, T>(
  name: K,
  listeners: readonly ((told: T) => void)[],
): Partial<Record<K, (told: T) => void>> {
  const [only] = listeners;
  if (only === undefined) return {};
  // Of each step of each actor it is told: one is told directly, several without an object for each.
  const toEach = (what: T) => {
    listeners.forEach((listener) => {
      listener(what);
    });
  };
  const all = listeners.length === 1 ? only : toEach;
  // One key, with a value of its type.
  return { [name]: all } as Partial<Record<K, (told: T) => void>>;
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
