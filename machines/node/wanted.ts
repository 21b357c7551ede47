/** Compares the pods that sources want with the pods that have an actor. */

import { lookUp } from '../../base/lookUp.ts';
import { withEntries, withoutEntry } from '../../base/withEntries.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../kubernetes/api/schema/status.ts';
import type { ObservedPod, PodIdentity } from '../../kubernetes/lifecycle/observed.ts';
import { podUpdate } from '../../kubernetes/lifecycle/update.ts';
import { isTerminalPhase } from '../../kubernetes/status/phase.ts';
import type { PodInput } from '../pod/context.ts';
import type { NodeEvent, PodEvent, SourceProblem } from '../shared/events.ts';
import { mayHaveLogs, type NodeContext, networkOf, observedOf, uidOf } from './context.ts';
import { deletionOf, terminationElsewhere, terminationOf } from './endings.ts';

/** Annotation with the name of the pod's source. */
const SOURCE = 'kubernetes.io/config.source';

type Known = NodeContext['pods'][string];

/**
 * Returns the changes of the context that result from an event of a source: its full list, one changed pod, problems of
 * one file, or its state.
 */
export function sourceChanges(context: NodeContext, event: NodeEvent): Partial<NodeContext> {
  const { desired, problems, warnings, unread } = context;
  if (event.type === 'config.podsListed') {
    const { source, at, problems: wrong = [], warnings: odd = [], isPartial = false } = event;
    const pods = Object.fromEntries(event.pods.map((pod) => [pod.metadata.uid, pod]));
    return {
      heardAt: at,
      desired: { ...desired, [source]: pods },
      unread: [...unread.filter((each) => each !== source), ...(isPartial ? [source] : [])],
      problems: { ...problems, [source]: wrong },
      warnings: { ...warnings, [source]: odd },
    };
  }
  if (event.type === 'config.podChanged') return recordedPod(context, event);
  if (event.type === 'config.sourceChanged') {
    return { sourceStates: { ...context.sourceStates, [event.source]: event.state } };
  }
  if (event.type !== 'config.problemsChanged') return {};
  const { source } = event;
  return {
    problems: { ...problems, [source]: inPlaceOf(event, lookUp(problems, source), event.problems) },
    warnings: { ...warnings, [source]: inPlaceOf(event, lookUp(warnings, source), event.warnings) },
  };
}

/**
 * Records a changed pod. The change is ignored if the source has not listed its pods yet, because the list will include
 * it.
 */
function recordedPod(
  { desired }: NodeContext,
  event: Extract<NodeEvent, { type: 'config.podChanged' }>,
): Partial<NodeContext> {
  const { source, at } = event;
  const before = lookUp(desired, source);
  if (before === undefined) return {};
  const uid = changedUid(event);
  const pods = event.change === 'removed' ? withoutEntry(before, uid) : withEntries(before, [[uid, event.pod]]);
  return { heardAt: at, desired: { ...desired, [source]: pods } };
}

const inPlaceOf = (
  { file, pod }: Pick<SourceProblem, 'file' | 'pod'>,
  before: readonly SourceProblem[] = [],
  now: readonly SourceProblem[] = [],
) =>
  [...before.filter((problem) => problem.file !== file || problem.pod !== pod), ...now].sort((one, other) =>
    one.file === other.file ? 0 : one.file < other.file ? -1 : 1,
  );

const changedUid = (event: Extract<NodeEvent, { type: 'config.podChanged' }>): string =>
  event.change === 'removed' ? event.uid : event.pod.metadata.uid;

/** Returns the UIDs of the pods that an event is about, or undefined if it may be about any pod. */
export function concerned(event: NodeEvent): readonly string[] | undefined {
  if (event.type === 'config.podChanged') return [changedUid(event)];
  if (event.type === 'runtime.podsObserved') return event.pods.map(({ uid }) => uid);
  const uid = uidOf(event);
  return uid === undefined ? undefined : [uid];
}

/** Returns the wanted pod with a UID. If several sources want it, the source of the running pod wins. */
export function wantedPod({ desired, pods }: NodeContext, uid: string): Pod | undefined {
  const present = lookUp(pods, uid)?.pod.metadata.annotations?.[SOURCE];
  const wanted = Object.values(desired).flatMap((ofSource) => lookUp(ofSource, uid) ?? []);
  return wanted.find(({ metadata }) => metadata.annotations?.[SOURCE] === present) ?? wanted[0];
}

export const isWanted = ({ desired }: Pick<NodeContext, 'desired'>, uid: string): boolean =>
  Object.values(desired).some((ofSource) => Object.hasOwn(ofSource, uid));

/** Whether an API server has the pod in a form that cannot be read. */
export const isUnreadable = ({ problems }: Pick<NodeContext, 'problems'>, uid: string): boolean =>
  Object.values(problems).some((ofSource) => ofSource.some((problem) => problem.uid === uid));

const wantedUids = ({ desired }: NodeContext): string[] => [...new Set(Object.values(desired).flatMap(Object.keys))];

/** Whether every source has listed its pods, at least partially, or has reported that it cannot be read. */
export const haveSourcesAnswered = ({ sources, desired, unread }: NodeContext): boolean =>
  sources.every((source) => Object.hasOwn(desired, source) || unread.includes(source));

/** Whether every source has listed all of its pods. */
export const haveSourcesSpoken = ({ sources, desired, unread }: NodeContext): boolean =>
  sources.every((source) => Object.hasOwn(desired, source) && !unread.includes(source));

/**
 * Returns the wanted pods without an actor, by default among all pods. Running pods come first, followed by those
 * admitted before the agent started, so that new pods cannot take their resources. Within each group, the oldest pods
 * come first, as in a kubelet (`HandlePodAdditions` in `pkg/kubelet/kubelet.go`).
 */
export function newPods(context: NodeContext, uids: readonly string[] = wantedUids(context)): Pod[] {
  const missing = uids.filter((uid) => !Object.hasOwn(context.pods, uid));
  const known = ({ metadata: { uid } }: Pod) => Object.hasOwn(context.allocations, uid);
  const rank = (pod: Pod) => (observedOf(context, pod).sandboxes.length > 0 ? 0 : known(pod) ? 1 : 2);
  const pods = missing.flatMap((uid) => wantedPod(context, uid) ?? []);
  return pods.sort((a, b) => rank(a) - rank(b) || createdAt(a) - createdAt(b));
}

/** Returns the creation time in milliseconds since the epoch, or 0 for most static pods, which do not have one. */
const createdAt = ({ metadata }: Pod): number => Date.parse(metadata.creationTimestamp ?? '') || 0;

/**
 * Returns the terminal status that the API server has of a pod. Such a pod never runs again, even if no local record is
 * left. Returns undefined for pods with running containers, which have to terminate first.
 */
function endAtServer({ metadata: { annotations }, status = {} }: Pod): PodStatus | undefined {
  const isOfServer = lookUp(annotations, SOURCE) === 'api';
  const { initContainerStatuses = [], containerStatuses = [] } = status;
  const runs = [...initContainerStatuses, ...containerStatuses].some(({ state }) => state?.running !== undefined);
  return isOfServer && isTerminalPhase(status.phase) && !runs ? status : undefined;
}

/** Returns the input of a pod's actor. A terminated pod remains terminated (C2). */
export function podInput(context: NodeContext, pod: Pod, observed: ObservedPod): PodInput {
  const { crashLoop, limitedSwap, heardAt: bornAt, health, statuses } = context;
  const restored = lookUp(statuses, pod.metadata.uid) ?? endAtServer(pod);
  const containerEnds = lookUp(context.containerEnds, pod.metadata.uid);
  return {
    crashLoop,
    limitedSwap,
    bornAt,
    pod,
    observed,
    ticket: 0,
    ...networkOf(health),
    ...(restored ? { restored } : {}),
    ...(containerEnds ? { containerEnds } : {}),
    ...(mayHaveLogs(context, pod.metadata.uid) ? { hasLogs: true } : {}),
  };
}

/**
 * Returns the resources that an earlier agent or an earlier actor admitted for the pod, regardless of its current
 * manifest.
 */
export function admittedBefore({ allocations }: NodeContext, { metadata: { uid } }: Pod): Pick<PodInput, 'allocation'> {
  const allocation = lookUp(allocations, uid);
  return allocation ? { allocation } : {};
}

/**
 * Returns the inputs of the actors of new pods, in order of arrival. A pod that has terminated or is being deleted is
 * only terminated (C2, C5).
 */
export const newPodInputs = (context: NodeContext, uids?: readonly string[]): PodInput[] =>
  newPods(context, uids).map((pod, index) => {
    const input = podInput(context, pod, observedOf(context, pod));
    const { restored, bornAt } = input;
    const probed = lookUp(context.probed, pod.metadata.uid);
    const end = restored ? terminationOf(pod, 'Completed', bornAt) : terminationElsewhere(pod, bornAt);
    const termination = deletionOf(pod, bornAt) ?? end;
    return {
      ...input,
      ticket: context.tickets + index + 1,
      ...admittedBefore(context, pod),
      ...(probed ? { probed } : {}),
      ...(termination ? { termination } : {}),
    };
  });

/** Returns the pods that have an actor and are no longer wanted. */
export const unwanted = (context: NodeContext, uids: readonly string[] = Object.keys(context.pods)): Known[] =>
  uids.flatMap((uid) => {
    const known = lookUp(context.pods, uid);
    return known === undefined || known.ending || isWanted(context, uid) ? [] : [known];
  });

/** Returns the UIDs of terminating pods that a source wants again. */
export const rewanted = (context: NodeContext, uids: readonly string[] = Object.keys(context.pods)): string[] =>
  uids.filter((uid) => lookUp(context.pods, uid)?.ending === true && isWanted(context, uid));

/** Returns the wanted pods whose version at the source differs from the version last sent to their actors. */
export const edited = (
  context: NodeContext,
  uids: readonly string[] = Object.keys(context.pods),
): { readonly before: Pod; readonly pod: Pod }[] =>
  uids.flatMap((uid) => {
    const known = lookUp(context.pods, uid);
    if (known === undefined || known.ending) return [];
    const pod = wantedPod(context, uid);
    return pod === undefined || pod === known.pod ? [] : [{ before: known.pod, pod }];
  });

/** Returns the events that update a pod's actor to a new version. The list is empty if nothing relevant has changed. */
export function updateEvents(before: Pod, pod: Pod, at: number): PodEvent[] {
  const changed = podUpdate(before, pod);
  const { metadata } = pod;
  const facts: PodEvent[] = [];
  if (changed.spec) facts.push({ type: 'pod.update', pod });
  else if (changed.metadata) facts.push({ type: 'pod.metadataChanged', metadata });
  if (changed.conditions) facts.push({ type: 'pod.conditionsChanged', conditions: pod.status?.conditions });
  const end = before.status?.phase === pod.status?.phase ? undefined : terminationElsewhere(pod, at);
  const termination = changed.deletion ? (deletionOf(pod, at) ?? end) : end;
  if (termination) facts.push({ type: 'pod.terminate', termination });
  return facts;
}

/** Returns the identity of an unwanted pod whose actor failed. Wanted pods are restarted anyway. */
export function brokenPod(context: NodeContext, uid = ''): PodIdentity | undefined {
  const known = lookUp(context.pods, uid);
  if (known === undefined || isWanted(context, uid)) return undefined;
  const { namespace, name } = known.pod.metadata;
  return { uid, namespace, name };
}
