/** Selects the objects of each pod by its origin, which is either the cluster or the manifests of a source. */

import { isStaticPod } from '../../kubernetes/api/pods/staticPod.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ObjectsInUse } from '../../kubernetes/objects/podObjects.ts';

interface ObjectProviders {
  readonly localObjects: ObjectsInUse;
  /** Undefined if the node does not belong to a cluster. */
  readonly cluster: ObjectsInUse | undefined;
}

export function objectsBySource({ localObjects, cluster = localObjects }: ObjectProviders): ObjectsInUse {
  const selectProvider = (pod: Pod) => (isStaticPod(pod) ? localObjects : cluster);
  return {
    get: (pod, ...args) => selectProvider(pod).get(pod, ...args),
    follow: (pod) => selectProvider(pod).follow(pod),
    release: (uid) => {
      localObjects.release(uid);
      cluster.release(uid);
    },
  };
}
