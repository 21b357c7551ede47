/** What pods get of a cluster is waited for only so long: whoever asks for it holds up others. */

import type { Clock } from '../../base/clock.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import { cacheSyncTimeout, type PodObjects } from '../../kubernetes/objects/podObjects.ts';
import { withinLimit } from './timeLimit.ts';

/** As a kubelet waits for its own copy of an object. */
const LIMIT_MS = 1_000;

/** The same objects, each within a second, or for now not at all, in the words of a kubelet. */
export const withinSecond = (objects: PodObjects, clock: Clock): PodObjects => ({
  get: (pod, kind, name, { signal }) => {
    const act = (within: AbortSignal) =>
      unlessAborted(objects.get(pod, kind, name, { signal: within }), within).catch((cause: unknown) => {
        if (!within.aborted || signal.aborted) throw cause;
        throw new Error(cacheSyncTimeout(kind), { cause });
      });
    return withinLimit(act, { clock, timeoutMs: LIMIT_MS, signal });
  },
});
