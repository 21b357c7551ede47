/** Selects the objects of each pod by its origin: the cluster, or the manifests of its source. */
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { isStaticPod } from '../../kubernetes/api/staticPod.ts';
import type { ObjectsInUse } from '../../kubernetes/objects/podObjects.ts';

interface Origins {
  readonly local: ObjectsInUse;
  /** Undefined without a cluster, in which case no pod comes from a cluster. */
  readonly cluster: ObjectsInUse | undefined;
}

export function objectsBySource({ local, cluster = local }: Origins): ObjectsInUse {
  const objectsOf = (pod: Pod) => (isStaticPod(pod) ? local : cluster);
  return {
    get: (pod, ...args) => objectsOf(pod).get(pod, ...args),
    follow: (pod) => objectsOf(pod).follow(pod),
    release: (uid) => {
      local.release(uid);
      cluster.release(uid);
    },
  };
}
