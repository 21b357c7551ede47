/** Distinguishes this agent's pods that have no actor from those of other agents. */

import { lookUp } from '../../base/lookUp.ts';
import type { ForeignPod, ObservedPod } from '../../kubernetes/lifecycle/observed.ts';
import type { PodInput } from '../pod/context.ts';
import { type NodeContext, nothingOf, observedOf } from './context.ts';
import { terminationOf, terminationOfUnlisted } from './endings.ts';
import { admittedBefore, haveSourcesSpoken, isUnreadable, isWanted, podInput, wantedPod } from './wanted.ts';

/**
 * Returns the pods in the runtime that have no actor and belong to this agent. The owner is inferred from the owner
 * mark of a sandbox or, if no sandbox has a mark, of the pod's directory.
 */
export function markedPods(
  { observed = {}, owner, pods, left, taken }: NodeContext,
  uids: readonly string[] = Object.keys(observed),
): ObservedPod[] {
  const marked = new Set(left.filter(({ isMarked }) => isMarked).map(({ uid }) => uid));
  const isOurs = ({ uid, sandboxes, others = [] }: ObservedPod) =>
    taken.includes(uid) ||
    sandboxes.some((sandbox) => sandbox.owner === owner) ||
    (marked.has(uid) && others.length === 0);
  const unmet = uids.filter((uid) => !Object.hasOwn(pods, uid));
  return unmet.flatMap((uid) => lookUp(observed, uid) ?? []).filter(isOurs);
}

/** Returns this agent's pods that exist in the runtime without an actor. The node terminates them when it stops. */
export function stranded(context: NodeContext): PodInput[] {
  const { broken, drainAt, drained } = context;
  const isBroken = ({ uid }: ObservedPod) => broken.some(({ metadata }) => metadata.uid === uid);
  const brokenPods = broken.map((pod) => {
    const termination = terminationOf(pod, 'NodeShutdown', drainAt);
    return { ...podInput(context, pod, observedOf(context, pod)), ...admittedBefore(context, pod), termination };
  });
  const at = Math.max(drainAt, context.heardAt);
  const remaining = markedPods(context).filter((observed) => !isBroken(observed));
  const unmet = remaining.map((observed) => {
    const wanted = wantedPod(context, observed.uid);
    const isOrphan = haveSourcesSpoken(context) && !context.endsAll;
    const { pod, termination } = wanted
      ? { pod: wanted, termination: terminationOf(wanted, 'NodeShutdown', at) }
      : terminationOfUnlisted(observed, { isOrphan, at });
    // The pod's termination was already reported. A list that contains the pod again is outdated or contains leftovers.
    const isUnheard = drained.includes(observed.uid) || termination.isUnheard === true;
    return {
      ...podInput(context, pod, observed),
      ...(wanted ? admittedBefore(context, wanted) : {}),
      termination: { ...termination, ...(isUnheard ? { isUnheard } : {}) },
    };
  });
  return [...brokenPods, ...unmet];
}

/** Whether the pod with this UID in the runtime belongs to another agent and is not wanted by any source here. */
export function isOfOthersAlone(context: NodeContext, uid: string): boolean {
  const { others = [] } = lookUp(context.observed ?? {}, uid) ?? {};
  return others.length > 0 && !Object.hasOwn(context.pods, uid) && !isWanted(context, uid);
}

/**
 * Returns the pods that no source wants and that have to terminate, because the runtime or the disk still has objects
 * of this agent. Considers the pods in `uids` or, if undefined, all pods. A wanted pod that cannot be read is not
 * terminated.
 */
export function orphans(context: NodeContext, uids?: readonly string[]): PodInput[] {
  const isKnown = (uid: string) => Object.hasOwn(context.observed ?? {}, uid) || Object.hasOwn(context.pods, uid);
  const onDisk = context.left.filter(({ uid }) => !isKnown(uid) && uids?.includes(uid) !== false);
  const unwanted = [...markedPods(context, uids), ...onDisk.map(nothingOf)].filter(
    ({ uid }) => !isWanted(context, uid) && !isUnreadable(context, uid),
  );
  return unwanted.map((observed) => {
    const { pod, termination } = terminationOfUnlisted(observed, { isOrphan: !context.endsAll, at: context.heardAt });
    return { ...podInput(context, pod, observed), termination };
  });
}

/**
 * Returns the pods of other agents that have a sandbox in the runtime or a directory below this agent's root. The agent
 * lists them and does not touch them.
 */
export function foreignPods(context: NodeContext): ForeignPod[] {
  const { observed = {}, foreign = [], owner, pods } = context;
  const directories = new Map(foreign.map((pod) => [pod.uid, pod]));
  const foreignByUid = new Map(foreign.map((pod) => [pod.uid, pod]));
  for (const { uid, namespace, name, sandboxes, others = [] } of Object.values(observed)) {
    const foreignSandboxes = [...others, ...sandboxes.filter((sandbox) => sandbox.owner !== owner)];
    if (foreignSandboxes.length === 0) continue;
    const [creator] = foreignSandboxes.flatMap((sandbox) => sandbox.owner ?? []);
    const why =
      creator === undefined ? "its sandbox does not have this agent's mark" : `its sandbox was created by ${creator}`;
    const sandboxIds = foreignSandboxes.map(({ id }) => id);
    foreignByUid.set(uid, { why, ...directories.get(uid), uid, namespace, name, sandboxes: sandboxIds });
  }
  return [...foreignByUid.values()].filter(({ uid }) => !isWanted(context, uid) && !Object.hasOwn(pods, uid));
}
