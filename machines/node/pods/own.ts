/** Distinguishes the pods of this agent that have no actor from the pods of other agents. */

import { lookUp } from '../../../base/values/lookUp.ts';
import type { ForeignPod, ObservedPod } from '../../../kubernetes/lifecycle/observed.ts';
import type { PodInput } from '../../pod/context.ts';
import { emptyObservedPod, type NodeContext, observedPodOf } from '../context.ts';
import { terminationOf, terminationOfUnlisted } from './endings.ts';
import { desiredPod, haveAllSourcesListed, isDesired, isUnreadable, persistedAllocation, podInput } from './wanted.ts';

/**
 * Returns the pods in the runtime that have no actor and belong to this agent. The owner is inferred from the owner
 * mark of a sandbox or, if no sandbox has a mark, from that of the pod's directory.
 */
export function markedPods(
  { observed = {}, owner, pods, left, takenOverUids }: NodeContext,
  uids: readonly string[] = Object.keys(observed),
): ObservedPod[] {
  const markedUids = new Set(left.filter(({ isMarked }) => isMarked).map(({ uid }) => uid));
  const isOurs = ({ uid, sandboxes, foreignSandboxes = [] }: ObservedPod) =>
    takenOverUids.includes(uid) ||
    sandboxes.some((sandbox) => sandbox.owner === owner) ||
    (markedUids.has(uid) && foreignSandboxes.length === 0);
  const uidsWithoutActor = uids.filter((uid) => !Object.hasOwn(pods, uid));
  return uidsWithoutActor.flatMap((uid) => lookUp(observed, uid) ?? []).filter(isOurs);
}

/** Returns this agent's pods that exist in the runtime without an actor. The node terminates them when it stops. */
export function strandedPods(context: NodeContext): PodInput[] {
  const { brokenPods, drainStartedAt, drainedUids } = context;
  const isBroken = ({ uid }: ObservedPod) => brokenPods.some(({ metadata }) => metadata.uid === uid);
  const brokenInputs = brokenPods.map((pod) => {
    const termination = terminationOf(pod, 'NodeShutdown', drainStartedAt);
    return {
      ...podInput(context, pod, observedPodOf(context, pod)),
      ...persistedAllocation(context, pod),
      termination,
    };
  });
  const at = Math.max(drainStartedAt, context.lastFactAt);
  const remainingPods = markedPods(context).filter((observed) => !isBroken(observed));
  const remainingInputs = remainingPods.map((observed) => {
    const desired = desiredPod(context, observed.uid);
    const isOrphan = haveAllSourcesListed(context) && !context.endsAll;
    const { pod, termination } = desired
      ? { pod: desired, termination: terminationOf(desired, 'NodeShutdown', at) }
      : terminationOfUnlisted(observed, { isOrphan, at });
    // Do not report the termination of a drained pod again. If a list of the runtime's pods still contains the pod, the
    // list is outdated or only leftovers remain.
    const isUnreported = drainedUids.includes(observed.uid) || termination.isUnreported === true;
    return {
      ...podInput(context, pod, observed),
      ...(desired ? persistedAllocation(context, desired) : {}),
      termination: { ...termination, ...(isUnreported ? { isUnreported } : {}) },
    };
  });
  return [...brokenInputs, ...remainingInputs];
}

/**
 * Whether the pod with this UID in the runtime belongs to another agent and is not contained in any source of this
 * agent.
 */
export function isForeignOnly(context: NodeContext, uid: string): boolean {
  const { foreignSandboxes = [] } = lookUp(context.observed ?? {}, uid) ?? {};
  return foreignSandboxes.length > 0 && !Object.hasOwn(context.pods, uid) && !isDesired(context, uid);
}

/**
 * Returns the pods that no source contains and that have to terminate, because the runtime or the disk still has
 * objects of this agent. Considers the pods in `uids` or, if undefined, all pods. A pod whose latest version from the
 * API server cannot be parsed is not terminated.
 */
export function orphans(context: NodeContext, uids?: readonly string[]): PodInput[] {
  const isKnown = (uid: string) => Object.hasOwn(context.observed ?? {}, uid) || Object.hasOwn(context.pods, uid);
  const podsOnDisk = context.left.filter(({ uid }) => !isKnown(uid) && uids?.includes(uid) !== false);
  const unwantedPods = [...markedPods(context, uids), ...podsOnDisk.map(emptyObservedPod)].filter(
    ({ uid }) => !isDesired(context, uid) && !isUnreadable(context, uid),
  );
  return unwantedPods.map((observed) => {
    const { pod, termination } = terminationOfUnlisted(observed, {
      isOrphan: !context.endsAll,
      at: context.lastFactAt,
    });
    return { ...podInput(context, pod, observed), termination };
  });
}

/**
 * Returns the pods of other agents that have a sandbox in the runtime or a directory below this agent's root. The agent
 * lists them and does not touch them.
 */
export function foreignPods(context: NodeContext): ForeignPod[] {
  const { observed = {}, foreign: podDirectories = [], owner, pods } = context;
  const directoryByUid = new Map(podDirectories.map((pod) => [pod.uid, pod]));
  const foreignByUid = new Map(podDirectories.map((pod) => [pod.uid, pod]));
  for (const { uid, namespace, name, sandboxes, foreignSandboxes: separatedSandboxes = [] } of Object.values(
    observed,
  )) {
    const foreignSandboxes = [...separatedSandboxes, ...sandboxes.filter((sandbox) => sandbox.owner !== owner)];
    if (foreignSandboxes.length === 0) continue;
    const [creator] = foreignSandboxes.flatMap((sandbox) => sandbox.owner ?? []);
    const why =
      creator === undefined ? "its sandbox does not have this agent's mark" : `its sandbox was created by ${creator}`;
    const sandboxIds = foreignSandboxes.map(({ id }) => id);
    foreignByUid.set(uid, { why, ...directoryByUid.get(uid), uid, namespace, name, sandboxes: sandboxIds });
  }
  return [...foreignByUid.values()].filter(({ uid }) => !isDesired(context, uid) && !Object.hasOwn(pods, uid));
}
