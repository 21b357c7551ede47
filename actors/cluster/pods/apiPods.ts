/** Watches the API server's pods that are bound to the node. */

import type { Clock } from '../../../base/clock.ts';
import { NodeFailure } from '../../../base/failure.ts';
import { sameValue } from '../../../base/sameValue.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { POD, PODS } from '../../../kubeclient/paths.ts';
import { Reflector, type ReflectorStep } from '../../../kubeclient/reflector.ts';
import type { ObservedMirror } from '../../../kubernetes/mirror.ts';
import type { Feed } from '../../boundary.ts';
import { changesOf } from '../../sources/changes.ts';
import { sourceStateReporter } from '../../sources/sourceReporters.ts';
import type { PodCache } from './podCache.ts';
import { PodReader } from './podReader.ts';

export const API_SOURCE = 'api';

interface ApiPodsParts {
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly jitter: () => number;
  /** Caches the server's pods. */
  readonly cache: Pick<PodCache, 'replaceAll' | 'sentStatuses' | 'updateState'>;
  readonly onError: (source: string, error: unknown) => void;
}

/** Resends the latest status, regardless of its version. It may wait so that two writers of a status do not race. */
const LATEST_STATUS = { type: 'status.changed', version: Number.MAX_SAFE_INTEGER, mayWait: true } as const;

/** Watches the pods until the signal aborts. */
export function apiPods({ client, nodeName, clock, jitter, cache, onError }: ApiPodsParts): Feed {
  return async (send, { signal }) => {
    const changes = changesOf(API_SOURCE, clock);
    const onState = sourceStateReporter(send, API_SOURCE, { clock, signal, place: `pods bound to ${nodeName}` });
    const reader = new PodReader(clock);
    let mirrors: readonly ObservedMirror[] = [];
    await new Reflector({
      client,
      path: PODS,
      type: POD,
      query: { fieldSelector: `spec.nodeName=${nodeName}` },
      clock,
      jitter,
      signal,
      prepare: (object) => reader.prepare(object),
      onSet: (objects) => {
        const { set, mirrors: currentMirrors } = reader.read(objects);
        cache.replaceAll(objects, currentMirrors);
        if (!sameValue(currentMirrors, mirrors)) send({ type: 'config.mirrorsChanged', mirrors: currentMirrors });
        mirrors = currentMirrors;
        for (const fact of changes(set)) send(fact);
        for (const uid of cache.sentStatuses.findEdited(objects)) send({ ...LATEST_STATUS, uid });
      },
      onStep: (step: ReflectorStep) => {
        cache.updateState(step);
        onState(step);
      },
      onProblem: (problem) => onError('watch', new NodeFailure('FailedRead', `Pod ${problem}`)),
    }).run();
  };
}
