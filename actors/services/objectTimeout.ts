/** Limits how long a pod waits for an object of the cluster, because the waiting caller blocks other pods. */

import { unlessAborted } from '../../base/async/unlessAborted.ts';
import type { Clock } from '../../base/time/clock.ts';
import { cacheSyncTimeout, type PodObjects } from '../../kubernetes/objects/podObjects.ts';
import { withTimeout } from './withTimeout.ts';

/** Timeout of `get`. The kubelet waits equally long for its cache of an object. */
const OBJECT_TIMEOUT_MS = 1_000;

/** Wraps `objects` so that each `get` times out after a second, with the kubelet's message. */
export const withObjectTimeout = (objects: PodObjects, clock: Clock): PodObjects => ({
  get: (pod, kind, name, { signal }) => {
    const act = (within: AbortSignal) =>
      unlessAborted(objects.get(pod, kind, name, { signal: within }), within).catch((cause: unknown) => {
        if (!within.aborted || signal.aborted) throw cause;
        throw new Error(cacheSyncTimeout(kind), { cause });
      });
    return withTimeout(act, { clock, timeoutMs: OBJECT_TIMEOUT_MS, signal });
  },
});
