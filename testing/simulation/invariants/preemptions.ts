/** Invariants for the preemption of pods by critical ones (C24). */
import { isPreemptable } from '../../../kubernetes/admission/preemption.ts';
import { isCriticalPod } from '../../../kubernetes/api/pods/staticPod.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { type PodRequests, shortages } from '../../../kubernetes/resources/requests.ts';
import type { AdmissionContext } from '../../../machines/admission/context.ts';
import { childrenOf } from '../../../machines/shared/views/actorTree.ts';
import type { Invariant, Watched } from './invariant.ts';

const PREEMPTING = 'Preempting';

/** Whether `pod` takes precedence over `other`, judging by their specs. */
const outranks = (pod: Pod, other: Pod): boolean =>
  (isCriticalPod(pod) && !isCriticalPod(other)) || (pod.spec.priority ?? 0) > (other.spec.priority ?? 0);

const onlyForHigherPods: Invariant = {
  description: 'A pod is preempted only if the node has a pod that takes precedence over it.',
  follow: (watched, violated) => ({
    onEvent: ({ reason, involved }) => {
      const victim = reason === PREEMPTING ? watched.podOf(involved.uid) : undefined;
      if (victim === undefined || watched.agent?.knownPods().some((each) => outranks(each, victim))) return;
      violated(`${involved.name} is preempted, but no pod takes precedence over it`);
    },
  }),
};

function admissionOf({ root }: Watched): AdmissionContext | undefined {
  const [admission] = root === undefined ? [] : childrenOf(root.getSnapshot(), 'admission');
  // Safe cast: the actor `admission` runs the machine with this context.
  return admission?.getSnapshot().context as AdmissionContext | undefined;
}

const onlyAsManyAsNeeded: Invariant = {
  description: 'No pod is preempted that the critical pod does not need.',
  follow: (watched, violated) => {
    let victimUids: readonly string[] = [];
    return {
      onEvent: ({ reason, involved }) => {
        if (reason === PREEMPTING) victimUids = [...victimUids, involved.uid];
      },
      afterStep: () => {
        const [uids, admission] = [victimUids, admissionOf(watched)];
        victimUids = [];
        const request = admission?.waitingRequests.find(({ requests }) => requests.critical);
        if (uids.length === 0 || admission === undefined || request === undefined) return;
        const others = admission.entries.flatMap(({ uid, allocated }) =>
          allocated === null || uid === request.uid ? [] : [{ uid, requests: allocated }],
        );
        const shortOf = (staying: readonly { readonly requests: PodRequests }[]) =>
          shortages(
            request.requests,
            staying.map(({ requests }) => requests),
            admission.capacity,
          );
        // If several resources are short, the choice of victims is only a heuristic.
        if (shortOf(others).length !== 1) return;
        const victims = others.filter(
          ({ uid, requests }) => uids.includes(uid) && isPreemptable(request.requests, requests),
        );
        for (const { uid } of victims) {
          const staying = others.filter((each) => each.uid === uid || !victims.includes(each));
          if (shortOf(staying).length === 0)
            violated(`pod ${uid} is preempted for ${request.fullName}, which fits beside it`);
        }
      },
    };
  },
};

export const preemptionInvariants: readonly Invariant[] = [onlyForHigherPods, onlyAsManyAsNeeded];
