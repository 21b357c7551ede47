/** The API server as a source of pods: those that are bound to the node. */

import type { Clock } from '../../../base/clock.ts';
import { NodeFailure } from '../../../base/failure.ts';
import { sameValue } from '../../../base/sameValue.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { POD, PODS } from '../../../kubeclient/paths.ts';
import { Reflector, type ReflectorStep } from '../../../kubeclient/reflector.ts';
import type { ObservedMirror } from '../../../kubernetes/mirror.ts';
import type { Feed } from '../../boundary.ts';
import { changesOf } from '../../sources/changes.ts';
import { tellingState } from '../../sources/sourceNews.ts';
import type { PodCache } from './podCache.ts';
import { PodReader } from './podReader.ts';

export const API_SOURCE = 'api';

interface ApiPodsParts {
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly jitter: () => number;
  /** Told what the server has. */
  readonly cache: Pick<PodCache, 'take' | 'told' | 'step'>;
  readonly onError: (source: string, error: unknown) => void;
}

/** Whatever version of a pod's status is the latest; whoever writes it too is not answered at once. */
const LATEST_STATUS = { type: 'status.changed', version: Number.MAX_SAFE_INTEGER, mayWait: true } as const;

/** Follows the pods until it is stopped. */
export function apiPods({ client, nodeName, clock, jitter, cache, onError }: ApiPodsParts): Feed {
  return async (send, { signal }) => {
    const changes = changesOf(API_SOURCE, clock);
    const onState = tellingState(send, API_SOURCE, { clock, signal, place: `pods bound to ${nodeName}` });
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
      onSet: (objects) => {
        const { set, mirrors: found } = reader.read(objects);
        cache.take(objects, found);
        if (!sameValue(found, mirrors)) send({ type: 'config.mirrorsChanged', mirrors: found });
        mirrors = found;
        for (const fact of changes(set)) send(fact);
        for (const uid of cache.told.editedIn(objects)) send({ ...LATEST_STATUS, uid });
      },
      onStep: (step: ReflectorStep) => {
        cache.step(step);
        onState(step);
      },
      onProblem: (problem) => onError('watch', new NodeFailure('FailedRead', `Pod ${problem}`)),
    }).run();
  };
}
