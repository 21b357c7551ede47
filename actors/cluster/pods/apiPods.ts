/** Watches the API server's pods that are bound to the node. */

import { NodeFailure } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { POD, PODS_PATH } from '../../../kubeclient/paths.ts';
import { Reflector, type ReflectorState } from '../../../kubeclient/reflector.ts';
import type { ObservedMirror } from '../../../kubernetes/mirror.ts';
import type { FactFeed } from '../../boundary.ts';
import { createChangeDetector } from '../../sources/changeDetector.ts';
import { sourceStateReporter } from '../../sources/sourceReporters.ts';
import type { PodCache } from './podCache.ts';
import { PodReader } from './podReader.ts';

export const API_SOURCE = 'api';

interface ApiPodsDependencies {
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly jitter: () => number;
  /** The cache to update with the server's pods. */
  readonly cache: Pick<PodCache, 'replaceAll' | 'statusResponses' | 'updateState'>;
  readonly onError: (source: string, error: unknown) => void;
}

/**
 * Makes the sink resend the latest status, regardless of its version. Sending may be deferred, so that this node and
 * another writer of the status do not race.
 */
const RESEND_STATUS_EVENT = { type: 'status.changed', version: Number.MAX_SAFE_INTEGER, mayWait: true } as const;

/** Watches the pods until the signal aborts. */
export function apiPods({ client, nodeName, clock, jitter, cache, onError }: ApiPodsDependencies): FactFeed {
  return async (send, { signal }) => {
    const createChanges = createChangeDetector(API_SOURCE, clock);
    const onState = sourceStateReporter(send, API_SOURCE, { clock, signal, sourceName: `pods bound to ${nodeName}` });
    const podReader = new PodReader(clock);
    let observedMirrors: readonly ObservedMirror[] = [];
    await new Reflector({
      client,
      path: PODS_PATH,
      type: POD,
      query: { fieldSelector: `spec.nodeName=${nodeName}` },
      clock,
      jitter,
      signal,
      prepare: (object) => podReader.prepare(object),
      onSet: (objects) => {
        const { set, mirrors: currentMirrors } = podReader.read(objects);
        cache.replaceAll(objects, currentMirrors);
        if (!isJsonEqual(currentMirrors, observedMirrors))
          send({ type: 'config.mirrorsChanged', mirrors: currentMirrors });
        observedMirrors = currentMirrors;
        for (const fact of createChanges(set)) send(fact);
        for (const uid of cache.statusResponses.findEdited(objects)) send({ ...RESEND_STATUS_EVENT, uid });
      },
      onStep: (step: ReflectorState) => {
        cache.updateState(step);
        onState(step);
      },
      onProblem: (problem) => onError('watch', new NodeFailure('FailedRead', `Pod ${problem}`)),
    }).run();
  };
}
