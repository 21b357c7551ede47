/** Compares the desired pods of the sources with the pods that have an actor. */

import { lookUp } from '../../../base/values/lookUp.ts';
import { withEntries, withoutEntry } from '../../../base/values/withEntries.ts';
import { isStaticPod } from '../../../kubernetes/api/pods/staticPod.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { PodStatus } from '../../../kubernetes/api/schema/status.ts';
import type { ObservedPod, PodIdentity } from '../../../kubernetes/lifecycle/observed.ts';
import { podUpdate } from '../../../kubernetes/lifecycle/update.ts';
import { isTerminalPhase } from '../../../kubernetes/status/phase.ts';
import type { PodInput } from '../../pod/context.ts';
import type { NodeEvent, PodEvent, SourceProblem } from '../../shared/events/events.ts';
import { eventPodUid, mayHaveLogs, type NodeContext, networkOf, observedPodOf } from '../context.ts';
import { deletionOf, externalTermination, terminationOf } from './endings.ts';

/** Annotation with the name of the pod's source. */
const SOURCE_ANNOTATION = 'kubernetes.io/config.source';

type PodEntry = NodeContext['pods'][string];

/**
 * Returns the context changes that result from an event of a source. The event contains all pods of the source, one
 * changed pod, the problems of one file, or the source's state.
 */
export function sourceChanges(context: NodeContext, event: NodeEvent): Partial<NodeContext> {
  const { desired, problems, warnings, unreadSources } = context;
  if (event.type === 'config.podsListed') {
    const { source, at, problems: listedProblems = [], warnings: listedWarnings = [], isPartial = false } = event;
    const pods = Object.fromEntries(event.pods.map((pod) => [pod.metadata.uid, pod]));
    return {
      lastFactAt: at,
      desired: { ...desired, [source]: pods },
      unreadSources: [...unreadSources.filter((each) => each !== source), ...(isPartial ? [source] : [])],
      problems: { ...problems, [source]: listedProblems },
      warnings: { ...warnings, [source]: listedWarnings },
    };
  }
  if (event.type === 'config.podChanged') return withChangedPod(context, event);
  if (event.type === 'config.sourceChanged') {
    return { sourceStates: { ...context.sourceStates, [event.source]: event.state } };
  }
  if (event.type !== 'config.problemsChanged') return {};
  const { source } = event;
  return {
    problems: { ...problems, [source]: replaceProblems(event, lookUp(problems, source), event.problems) },
    warnings: { ...warnings, [source]: replaceProblems(event, lookUp(warnings, source), event.warnings) },
  };
}

/**
 * Records a changed pod. The change is ignored if the source has not listed its pods yet, because the list will include
 * it.
 */
function withChangedPod(
  { desired }: NodeContext,
  event: Extract<NodeEvent, { type: 'config.podChanged' }>,
): Partial<NodeContext> {
  const { source, at } = event;
  const previousPods = lookUp(desired, source);
  if (previousPods === undefined) return {};
  const uid = changedUid(event);
  const pods =
    event.change === 'removed' ? withoutEntry(previousPods, uid) : withEntries(previousPods, [[uid, event.pod]]);
  return { lastFactAt: at, desired: { ...desired, [source]: pods } };
}

const replaceProblems = (
  { file, pod }: Pick<SourceProblem, 'file' | 'pod'>,
  previousProblems: readonly SourceProblem[] = [],
  currentProblems: readonly SourceProblem[] = [],
) =>
  [...previousProblems.filter((problem) => problem.file !== file || problem.pod !== pod), ...currentProblems].sort(
    (first, second) => (first.file === second.file ? 0 : first.file < second.file ? -1 : 1),
  );

const changedUid = (event: Extract<NodeEvent, { type: 'config.podChanged' }>): string =>
  event.change === 'removed' ? event.uid : event.pod.metadata.uid;

/** Returns the UIDs of the pods that an event is about, or undefined if it may be about any pod. */
export function affectedUids(event: NodeEvent): readonly string[] | undefined {
  if (event.type === 'config.podChanged') return [changedUid(event)];
  if (event.type === 'runtime.podsObserved') return event.pods.map(({ uid }) => uid);
  const uid = eventPodUid(event);
  return uid === undefined ? undefined : [uid];
}

/** Returns the desired pod with the given UID. If several sources contain it, the source of the running pod wins. */
export function desiredPod({ desired, pods }: NodeContext, uid: string): Pod | undefined {
  const currentSource = lookUp(pods, uid)?.pod.metadata.annotations?.[SOURCE_ANNOTATION];
  const candidates = Object.values(desired).flatMap((ofSource) => lookUp(ofSource, uid) ?? []);
  return (
    candidates.find(({ metadata }) => metadata.annotations?.[SOURCE_ANNOTATION] === currentSource) ?? candidates[0]
  );
}

export const isDesired = ({ desired }: Pick<NodeContext, 'desired'>, uid: string): boolean =>
  Object.values(desired).some((ofSource) => Object.hasOwn(ofSource, uid));

/** Whether the API server returned a version of the given pod that the agent could not parse. */
export const isUnreadable = ({ problems }: Pick<NodeContext, 'problems'>, uid: string): boolean =>
  Object.values(problems).some((ofSource) => ofSource.some((problem) => problem.uid === uid));

const desiredUids = ({ desired }: NodeContext): string[] => [...new Set(Object.values(desired).flatMap(Object.keys))];

/** Whether every source has listed at least some of its pods or has reported that it cannot be read. */
export const haveAllSourcesResponded = ({ sources, desired, unreadSources }: NodeContext): boolean =>
  sources.every((source) => Object.hasOwn(desired, source) || unreadSources.includes(source));

/** Whether every source has listed all of its pods. */
export const haveAllSourcesListed = ({ sources, desired, unreadSources }: NodeContext): boolean =>
  sources.every((source) => Object.hasOwn(desired, source) && !unreadSources.includes(source));

/**
 * Returns the desired pods without an actor, among `uids` or, by default, among all desired pods. Running pods come
 * first, followed by those admitted before the agent started, so that new pods cannot take their resources. Within each
 * group, the oldest pods come first, as in the kubelet (`HandlePodAdditions` in `pkg/kubelet/kubelet.go`).
 */
export function newPods(context: NodeContext, uids: readonly string[] = desiredUids(context)): Pod[] {
  const uidsWithoutActor = uids.filter((uid) => !Object.hasOwn(context.pods, uid));
  const hasAllocation = ({ metadata: { uid } }: Pod) => Object.hasOwn(context.allocations, uid);
  const rank = (pod: Pod) => (observedPodOf(context, pod).sandboxes.length > 0 ? 0 : hasAllocation(pod) ? 1 : 2);
  const pods = uidsWithoutActor.flatMap((uid) => desiredPod(context, uid) ?? []);
  return pods.sort((a, b) => rank(a) - rank(b) || createdAt(a) - createdAt(b));
}

/** Returns the creation time in milliseconds since the epoch, or 0 for most static pods, which do not have one. */
const createdAt = ({ metadata }: Pod): number => Date.parse(metadata.creationTimestamp ?? '') || 0;

/**
 * Returns a pod's status on the API server if it is terminal. The pod then never runs again, even if no local record of
 * it is left. Returns undefined for pods with running containers, which have to terminate first.
 */
function terminalServerStatus({ metadata: { annotations }, status = {} }: Pod): PodStatus | undefined {
  const isFromApiServer = lookUp(annotations, SOURCE_ANNOTATION) === 'api';
  const { initContainerStatuses = [], containerStatuses = [] } = status;
  const hasRunningContainer = [...initContainerStatuses, ...containerStatuses].some(
    ({ state }) => state?.running !== undefined,
  );
  return isFromApiServer && isTerminalPhase(status.phase) && !hasRunningContainer ? status : undefined;
}

/**
 * Whether an earlier run of the agent terminated the static pod before a host shutdown. Such a pod starts despite its
 * terminal status, because nothing else starts it after the next boot.
 */
const startsAfterShutdown = (pod: Pod, status: PodStatus | undefined): boolean =>
  isStaticPod(pod) && status?.reason === 'Terminated';

/** Returns the input of a pod's actor. A terminated pod remains terminated (C2). */
export function podInput(context: NodeContext, pod: Pod, observed: ObservedPod): PodInput {
  const { crashLoop, limitedSwap, lastFactAt: spawnedAt, health, statuses } = context;
  const persistedStatus = lookUp(statuses, pod.metadata.uid);
  const localStatus = startsAfterShutdown(pod, persistedStatus) ? undefined : persistedStatus;
  const restoredStatus = localStatus ?? terminalServerStatus(pod);
  const containerEnds = lookUp(context.containerEnds, pod.metadata.uid);
  return {
    crashLoop,
    limitedSwap,
    spawnedAt,
    pod,
    observed,
    arrivalOrder: 0,
    ...networkOf(health),
    ...claimsInput(context, pod),
    ...(restoredStatus ? { restored: restoredStatus } : {}),
    ...(containerEnds ? { containerEnds } : {}),
    ...(mayHaveLogs(context, pod.metadata.uid) ? { hasLogs: true } : {}),
  };
}

/** Returns the claims that an earlier run of the agent prepared for the pod. */
function claimsInput({ claims }: NodeContext, { metadata: { uid } }: Pod): Pick<PodInput, 'claims'> {
  const podClaims = claims.filter(({ podUids }) => podUids.includes(uid));
  return podClaims.length === 0 ? {} : { claims: podClaims };
}

/**
 * Returns the resources that were admitted for the pod before the agent or the pod's actor restarted, regardless of its
 * current manifest.
 */
export function persistedAllocation(
  { allocations }: NodeContext,
  { metadata: { uid } }: Pod,
): Pick<PodInput, 'allocation'> {
  const allocation = lookUp(allocations, uid);
  return allocation ? { allocation } : {};
}

/**
 * Returns the inputs of the actors of new pods, in order of arrival. Pods that have terminated or are being deleted get
 * a termination and do not start (C2, C5).
 */
export const newPodInputs = (context: NodeContext, uids?: readonly string[]): PodInput[] =>
  newPods(context, uids).map((pod, index) => {
    const input = podInput(context, pod, observedPodOf(context, pod));
    const { restored: restoredStatus, spawnedAt } = input;
    const probed = lookUp(context.probed, pod.metadata.uid);
    const implicitTermination = restoredStatus
      ? terminationOf(pod, 'Completed', spawnedAt)
      : externalTermination(pod, spawnedAt);
    const termination = deletionOf(pod, spawnedAt) ?? implicitTermination;
    return {
      ...input,
      arrivalOrder: context.arrivalCount + index + 1,
      ...persistedAllocation(context, pod),
      ...(probed ? { probed } : {}),
      ...(termination ? { termination } : {}),
    };
  });

/** Returns the pods that have an actor but are no longer desired. */
export const podsToTerminate = (
  context: NodeContext,
  uids: readonly string[] = Object.keys(context.pods),
): PodEntry[] =>
  uids.flatMap((uid) => {
    const entry = lookUp(context.pods, uid);
    return entry === undefined || entry.isTerminating || isDesired(context, uid) ? [] : [entry];
  });

/** Returns the UIDs of terminating pods that a source contains again. */
export const rewantedUids = (context: NodeContext, uids: readonly string[] = Object.keys(context.pods)): string[] =>
  uids.filter((uid) => lookUp(context.pods, uid)?.isTerminating === true && isDesired(context, uid));

/** Returns the desired pods whose version at the source differs from the version last sent to their actors. */
export const editedPods = (
  context: NodeContext,
  uids: readonly string[] = Object.keys(context.pods),
): { readonly previousPod: Pod; readonly pod: Pod }[] =>
  uids.flatMap((uid) => {
    const entry = lookUp(context.pods, uid);
    if (entry === undefined || entry.isTerminating) return [];
    const pod = desiredPod(context, uid);
    return pod === undefined || pod === entry.pod ? [] : [{ previousPod: entry.pod, pod }];
  });

/** Returns the events that update a pod's actor to a new version. The list is empty if nothing relevant has changed. */
export function updateEvents(previousPod: Pod, pod: Pod, at: number): PodEvent[] {
  const changes = podUpdate(previousPod, pod);
  const { metadata } = pod;
  const events: PodEvent[] = [];
  if (changes.spec) events.push({ type: 'pod.update', pod });
  else if (changes.metadata) events.push({ type: 'pod.metadataChanged', metadata });
  if (changes.conditions) events.push({ type: 'pod.conditionsChanged', conditions: pod.status?.conditions });
  const phaseTermination = previousPod.status?.phase === pod.status?.phase ? undefined : externalTermination(pod, at);
  const termination = changes.deletion ? (deletionOf(pod, at) ?? phaseTermination) : phaseTermination;
  if (termination) events.push({ type: 'pod.terminate', termination });
  return events;
}

/**
 * Returns the identity of a pod whose actor failed and that is no longer desired. Returns undefined for a desired pod,
 * because its actor is respawned anyway.
 */
export function brokenPod(context: NodeContext, uid = ''): PodIdentity | undefined {
  const entry = lookUp(context.pods, uid);
  if (entry === undefined || isDesired(context, uid)) return undefined;
  const { namespace, name } = entry.pod.metadata;
  return { uid, namespace, name };
}
