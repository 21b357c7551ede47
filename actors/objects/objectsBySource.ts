/** Gives each pod the objects of where it comes from: those of the cluster, or those beside its manifest. */
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { isStaticPod } from '../../kubernetes/api/staticPod.ts';
import type { ObjectsInUse } from '../../kubernetes/objects/podObjects.ts';

interface Origins {
  readonly local: ObjectsInUse;
  /** Absent where there is no cluster: nor are there pods of one then. */
  readonly cluster: ObjectsInUse | undefined;
}

export function objectsBySource({ local, cluster = local }: Origins): ObjectsInUse {
  const of = (pod: Pod) => (isStaticPod(pod) ? local : cluster);
  return {
    get: (pod, ...asked) => of(pod).get(pod, ...asked),
    follow: (pod) => of(pod).follow(pod),
    release: (uid) => {
      local.release(uid);
      cluster.release(uid);
    },
  };
}
