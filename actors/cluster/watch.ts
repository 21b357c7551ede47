/** A set of objects that the node follows at the API server: by a watch, which says how it gets on. */

import type { Clock } from '../../base/clock.ts';
import { NodeFailure } from '../../base/failure.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import type { ObjectType } from '../../kubeclient/paths.ts';
import { type KubeObject, Reflector, type ReflectorStep } from '../../kubeclient/reflector.ts';
import type { SourceState } from '../../machines/node/source.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import { tellingSteps } from '../sources/sourceNews.ts';

export interface Watch<Kept = KubeObject> {
  /** The kind of the objects, under which it is shown. */
  readonly name: string;
  /** Which of them it follows, in words. */
  readonly place: string;
  readonly path: string;
  readonly type: ObjectType;
  readonly query?: Readonly<Record<string, string>>;
  /** Converts an object to the part that is stored. By default, the whole object is stored. */
  readonly transform?: (object: KubeObject) => Kept;
  /** Told how it gets on before anybody else. */
  readonly onStep?: (step: ReflectorStep) => void;
  /** Takes all there are, whenever that has changed; `send` tells the node of it. */
  readonly onSet: (objects: readonly Kept[], send: (fact: NodeFact) => void) => void;
}

interface Following {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly signal: AbortSignal;
  readonly send: (fact: NodeFact) => void;
  readonly onError: (source: string, error: unknown) => void;
}

/** Goes on until the signal aborts. */
export function follow<Kept>(
  { name, place, onSet, onStep, ...what }: Watch<Kept>,
  { send, onError, ...how }: Following,
): Promise<void> {
  const { clock, signal } = how;
  const onState = (state: SourceState) => send({ type: 'cluster.watchChanged', watch: name, state });
  const tell = tellingSteps(onState, { clock, signal, place });
  const reflector = new Reflector<Kept>({
    ...what,
    ...how,
    onSet: (objects) => onSet(objects, send),
    onStep: (step) => {
      onStep?.(step);
      tell(step);
    },
    onProblem: (problem) => onError('watch', new NodeFailure('FailedRead', `${name} ${problem}`)),
  });
  return reflector.run();
}
