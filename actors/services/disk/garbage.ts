/** Fills the ports of the garbage collection: the runtime's dead objects with their logs, and what is left on disk. */

import type { Clock } from '../../../base/clock.ts';
import { toFailure } from '../../../base/failure.ts';
import { sameValue } from '../../../base/sameValue.ts';
import type { CallOptions, Cri } from '../../../cri/client/calls.ts';
import type { Layout } from '../../../host/pods/layout.ts';
import { removeLogSymlink } from '../../../host/pods/logLinks.ts';
import { removeRunLogs } from '../../../host/pods/podDirectory.ts';
import type { ContainerRun, ForeignPod } from '../../../kubernetes/lifecycle/observed.ts';
import type { Services } from '../../boundary.ts';
import type { Ownership } from '../../store/ownership.ts';
import { unlessGone } from '../sandboxes/sandboxes.ts';

interface GarbageParts {
  readonly cri: Cri;
  readonly clock: Pick<Clock, 'now'>;
  readonly layout: Layout;
  readonly ownership: Ownership;
  /** Whether the latest dead containers of a pod are all that the next agent could see its end by (C2). */
  readonly isEvidence: (uid: string) => boolean;
}

export function garbageServices({
  cri,
  clock,
  layout,
  ownership,
  isEvidence,
}: GarbageParts): Pick<Services, 'removeGarbage' | 'surveyDisk'> {
  return {
    removeGarbage: async ({ containers, sandboxes }, options) => {
      const remove = async (podSandboxId: string) => {
        await cri.removePodSandbox({ podSandboxId }, options).catch(unlessGone);
      };
      const attempts = [
        ...containers
          .filter(({ pod, isLatest }) => !isLatest || !isEvidence(pod.uid))
          .map((each) => removeDead({ cri, layout }, each, options)),
        ...sandboxes.map(remove),
      ];
      const failed = (await Promise.allSettled(attempts)).find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
      return null;
    },
    surveyDisk: async ({ known, foreign: before }, { signal }) => {
      const { errors, left, foreign } = await ownership.survey(known, signal);
      const [earlier, now] = [byUid(before), byUid(foreign)];
      const changed = foreign.filter((pod) => !sameValue(earlier.get(pod.uid), pod));
      const gone = [...earlier.keys()].filter((uid) => !now.has(uid));
      const [error] = errors;
      return { left, foreign: changed, gone, ...(error ? { failure: toFailure(error, clock.now()) } : {}) };
    },
  };
}

const byUid = (pods: readonly ForeignPod[]) => new Map(pods.map((pod) => [pod.uid, pod]));

/** The logs first: once the container is gone nobody would look for them. */
async function removeDead(
  { cri, layout }: Pick<GarbageParts, 'cri' | 'layout'>,
  { pod, container, id, attempt }: ContainerRun,
  options: CallOptions,
): Promise<void> {
  await removeRunLogs(layout, pod, container, attempt);
  await removeLogSymlink(layout, { pod, container, id });
  await cri.removeContainer({ containerId: id }, options).catch(unlessGone);
}
