/** Runs watches of cluster objects and reports their state. */

import { NodeFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import type { ObjectType } from '../../kubeclient/paths.ts';
import { type KubeObject, Reflector, type ReflectorState } from '../../kubeclient/reflector.ts';
import type { SourceState } from '../../machines/node/pods/source.ts';
import type { NodeFact } from '../../machines/shared/events/events.ts';
import { createStepReporter } from '../sources/sourceReporters.ts';

export interface ClusterWatch<Cached = KubeObject> {
  /** The kind of the watched objects, as shown to users. */
  readonly name: string;
  /** Description of the watched objects in messages, e.g. `the Node node-1`. */
  readonly sourceName: string;
  readonly path: string;
  readonly type: ObjectType;
  readonly query?: Readonly<Record<string, string>>;
  /** Converts an object to the part that is cached. By default, the whole object is cached. */
  readonly transform?: (object: KubeObject) => Cached;
  /** Called with each state change of the watch before it is reported. */
  readonly onStep?: (step: ReflectorState) => void;
  /** Receives all objects whenever any of them has changed. `send` sends a fact to the node. */
  readonly onSet: (objects: readonly Cached[], send: (fact: NodeFact) => void) => void;
}

interface WatchContext {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly signal: AbortSignal;
  readonly send: (fact: NodeFact) => void;
  readonly onError: (source: string, error: unknown) => void;
}

/** Runs the watch until the signal aborts. */
export function runWatch<Cached>(
  { name, sourceName, onSet, onStep, ...watch }: ClusterWatch<Cached>,
  { send: sendFact, onError, ...context }: WatchContext,
): Promise<void> {
  const { clock, signal } = context;
  const onState = (state: SourceState) => sendFact({ type: 'cluster.watchChanged', watch: name, state });
  const reportWatchStep = createStepReporter(onState, { clock, signal, sourceName });
  const reflector = new Reflector<Cached>({
    ...watch,
    ...context,
    onSet: (objects) => onSet(objects, sendFact),
    onStep: (step) => {
      onStep?.(step);
      reportWatchStep(step);
    },
    onProblem: (problem) => onError('watch', new NodeFailure('FailedRead', `${name} ${problem}`)),
  });
  return reflector.run();
}
