/**
 * Implements the ports of garbage collection, which concern dead containers and sandboxes with their logs, and
 * leftovers on disk.
 */

import { toFailure } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { isJsonEqual } from '../../../base/values/isJsonEqual.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import { removeLogSymlink } from '../../../host/pods/logLinks.ts';
import { removeRunLogs } from '../../../host/pods/podDirectory.ts';
import type { ContainerRun, ForeignPod } from '../../../kubernetes/lifecycle/observed.ts';
import type { PortServices } from '../../boundary.ts';
import type { Ownership } from '../../store/ownership.ts';
import { ignoreNotFound } from '../sandboxes/sandboxes.ts';

interface GarbageDependencies {
  readonly cri: Cri;
  readonly clock: Pick<Clock, 'now'>;
  readonly layout: Layout;
  readonly ownership: Ownership;
  /**
   * Whether the pod's latest dead containers are the only record from which the next agent could learn how the pod
   * terminated (C2).
   */
  readonly isEvidence: (uid: string) => boolean;
}

export function garbageServices({
  cri,
  clock,
  layout,
  ownership,
  isEvidence,
}: GarbageDependencies): Pick<PortServices, 'removeGarbage' | 'surveyDisk'> {
  return {
    removeGarbage: async ({ containers, sandboxes }, options) => {
      const remove = async (podSandboxId: string) => {
        await cri.removePodSandbox({ podSandboxId }, options).catch(ignoreNotFound);
      };
      const removalAttempts = [
        ...containers
          .filter(({ pod, isLatest }) => !isLatest || !isEvidence(pod.uid))
          .map((each) => removeDeadContainer({ cri, layout }, each, options)),
        ...sandboxes.map(remove),
      ];
      const failedRemoval = (await Promise.allSettled(removalAttempts)).find(({ status }) => status === 'rejected');
      if (failedRemoval?.status === 'rejected') throw failedRemoval.reason;
      return null;
    },
    surveyDisk: async ({ activePodUids, foreign: previous }, { signal }) => {
      const { errors, left, foreign } = await ownership.surveyDisk(activePodUids, signal);
      const [previousByUid, currentByUid] = [byUid(previous), byUid(foreign)];
      const changedPods = foreign.filter((pod) => !isJsonEqual(previousByUid.get(pod.uid), pod));
      const removedUids = [...previousByUid.keys()].filter((uid) => !currentByUid.has(uid));
      const [error] = errors;
      return { left, foreign: changedPods, removedUids, ...(error ? { failure: toFailure(error, clock.now()) } : {}) };
    },
  };
}

const byUid = (pods: readonly ForeignPod[]) => new Map(pods.map((pod) => [pod.uid, pod]));

/**
 * Removes a dead container. Its logs are removed first, because nothing would remove them after the container is gone.
 */
async function removeDeadContainer(
  { cri, layout }: Pick<GarbageDependencies, 'cri' | 'layout'>,
  { pod, container, id, attempt }: ContainerRun,
  options: CallOptions,
): Promise<void> {
  await removeRunLogs(layout, pod, container, attempt);
  await removeLogSymlink(layout, { pod, container, id });
  await cri.removeContainer({ containerId: id }, options).catch(ignoreNotFound);
}
