/**
 * Builds the views of actors from which statuses are computed, so that code outside the machines does not read
 * snapshots.
 */
import type { ActorRefFrom } from 'xstate';
import { volumeWaitingReason } from '../../../kubernetes/api/pods/containers.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { Allocation } from '../../../kubernetes/resources/allocation.ts';
import type { ContainerView, PodView, VolumeView } from '../../../kubernetes/status/view.ts';
import type { ActorNode, LimiterView } from '../../../show/actors/actorNode.ts';
import type { containerMachine } from '../../container/chart.ts';
import { specOf } from '../../container/context.ts';
import { containerView } from '../../container/view.ts';
import { blockingHolders, type limiterMachine, waitingOrder } from '../../limiter/chart.ts';
import type { NodeContext } from '../../node/context.ts';
import { newPods } from '../../node/pods/wanted.ts';
import type { podMachine } from '../../pod/chart.ts';
import { awaitsAdoption } from '../../pod/containers/commands.ts';
import { currentAllocation, isCgroupOutdated, isResizing, uncertainSizes, uncertainSpec } from '../../pod/resizing.ts';
import { probeRefs, probeState } from '../../probe/view.ts';
import type { volumeMachine } from '../../volume/chart.ts';
import type { RuntimeHealth } from '../events/events.ts';
import { childrenOf, hasFailureInTree } from './actorTree.ts';
import { createViewCache } from './viewCache.ts';

export type PodRef = ActorRefFrom<typeof podMachine>;
export type ContainerRef = ActorRefFrom<typeof containerMachine>;
type VolumeRef = ActorRefFrom<typeof volumeMachine>;

/**
 * Views of containers. A view is rebuilt only if a value that it contains has changed, because every change to a
 * container causes the status of its whole pod to be computed, and the pod may have hundreds of containers.
 */
const containerViews = createViewCache<ContainerView>();

export function podView(ref: PodRef): PodView {
  const snapshot = ref.getSnapshot();
  const { context } = snapshot;
  const { sandbox, refusal, updateRefusal, termination, restored: restoredStatus, isInitialized } = context;
  const isRestartingAll = context.isRestartingAll === true && termination === undefined;
  const volumes = childrenOf<VolumeRef>(snapshot, 'volume/').map(volumeView);
  const isTerminating = termination !== undefined;
  const isDeleted = termination?.reason === 'Deleted' || context.desired.metadata.deletionTimestamp !== undefined;
  const podState = {
    isPodTerminating: isTerminating,
    endsUndeleted: isTerminating && !isDeleted,
    restartsAll: isRestartingAll,
    // Omit the other volumes, because each container searches this list for the reason why it waits.
    volumes: volumes.filter(({ waitingReason }) => waitingReason !== undefined),
  };
  return {
    pod: context.allocated,
    tags: [...snapshot.tags],
    conditions: context.conditions,
    ...(sandbox ? { sandbox } : {}),
    ...(context.devices ? { devices: context.devices } : {}),
    startedAt: context.startedAt,
    ...(refusal ? { refusal } : {}),
    ...(updateRefusal ? { updateRefusal, pendingGeneration: context.pendingResize?.generation } : {}),
    ...(isResizing(context)
      ? { isResizing: true, resizeGeneration: context.resize?.generation, resizeFailure: context.resize?.error }
      : {}),
    ...(context.appliedPod && isCgroupOutdated(context) ? { appliedSpec: context.appliedPod.spec } : {}),
    ...(context.attemptedResize
      ? { uncertainSpec: uncertainSpec(context), uncertainSizes: uncertainSizes(context) }
      : {}),
    // Report a completion separately, because it was not caused by a command to terminate the pod.
    ...(termination?.reason === 'Completed' ? { isCompleting: true } : {}),
    ...(termination && termination.reason !== 'Completed' ? { termination } : {}),
    ...(termination?.exceedsDeadline ? { exceedsDeadline: true } : {}),
    ...(context.claims && context.claims.length > 0 ? { claims: context.claims } : {}),
    ...(restoredStatus ? { restoredStatus } : {}),
    ...(context.containerEnds ? { containerEnds: context.containerEnds } : {}),
    ...(context.restarts ? { restarts: context.restarts } : {}),
    isInitialized,
    ...(isRestartingAll ? { isRestartingAll } : {}),
    ...(isUnsettled(ref) ? { isUnsettled: true } : {}),
    hasEnded: snapshot.hasTag('ended'),
    isReclaimed: snapshot.hasTag('reclaimed'),
    volumes,
    containers: childrenOf<ContainerRef>(snapshot, 'container/').map((child) => createContainerView(child, podState)),
  };
}

interface ContainerPodState {
  readonly isPodTerminating: boolean;
  readonly endsUndeleted: boolean;
  readonly restartsAll: boolean;
  readonly volumes: readonly VolumeView[];
}

function createContainerView(
  ref: ContainerRef,
  { isPodTerminating, endsUndeleted, restartsAll, volumes }: ContainerPodState,
): ContainerView {
  const snapshot = ref.getSnapshot();
  const volumeReason = volumeWaitingReason(volumes, specOf(snapshot.context));
  const dependencies = [
    snapshot,
    isPodTerminating,
    endsUndeleted,
    restartsAll,
    volumeReason?.reason,
    volumeReason?.message,
    ...probeRefs(snapshot).map(probeState),
  ];
  return containerViews(ref, dependencies, () =>
    containerView(snapshot, { isPodTerminating, endsUndeleted, restartsAll, volumeReason }),
  );
}

function volumeView(ref: VolumeRef): VolumeView {
  const snapshot = ref.getSnapshot();
  const { name, waitingReason } = snapshot.context;
  if (!waitingReason || !snapshot.hasTag('gettingImage')) return { name };
  return { name, waitingReason: { reason: waitingReason.reason, message: waitingReason.message } };
}

/** Whether the runtime is being queried for the pod's containers. No status is reported before they are known. */
export function isBeingAdopted(ref: PodRef): boolean {
  const snapshot = ref.getSnapshot();
  if (snapshot.hasTag('countingRestarts') || awaitsAdoption(snapshot.context)) return true;
  const containers = childrenOf<ContainerRef>(snapshot, 'container/');
  if (containers.some((child) => child.getSnapshot().hasTag('unknown'))) return true;
  const hasNoActors = containers.length === 0 && snapshot.context.observed.containers.length > 0;
  // Report the status with the available data if there is a failure, because the failure may persist.
  return hasNoActors && snapshot.hasTag('withoutContainers') && !hasFailureInTree(ref);
}

/**
 * Whether the pod may have running containers that its actors do not know about yet, because another agent runs the pod
 * or some containers have not been queried.
 */
function isUnsettled(ref: PodRef): boolean {
  const snapshot = ref.getSnapshot();
  if (snapshot.context.restored) return false;
  const containers = childrenOf<ContainerRef>(snapshot, 'container/');
  const hasUnqueriedContainers = containers.length === 0 && snapshot.context.observed.containers.length > 0;
  return (
    snapshot.hasTag('ofOthers') ||
    awaitsAdoption(snapshot.context) ||
    (hasUnqueriedContainers && snapshot.hasTag('settingUp')) ||
    containers.some((child) => child.getSnapshot().hasTag('unadopted'))
  );
}

/** Tags of the states in which the admission of the pod has not been decided yet. */
const UNADMITTED_TAGS = ['countingRestarts', 'ofOthers', 'admitting'] as const;

/**
 * Returns the last admitted allocation of a pod, even if its actor has failed. Returns undefined if there is none or it
 * is unknown.
 */
export function lastAllocation(ref: PodRef): Allocation | undefined {
  const snapshot = ref.getSnapshot();
  const { refusal, termination } = snapshot.context;
  const isUnknown = refusal !== undefined || termination?.isUnreported === true;
  return isUnknown || UNADMITTED_TAGS.some((tag) => snapshot.hasTag(tag))
    ? undefined
    : currentAllocation(snapshot.context);
}

/** A pod's view, from which its status is computed, and its actor tree. */
export interface PodViewWithTree {
  readonly view: PodView;
  readonly tree: ActorNode;
}

/** Returns the desired pods that have no actor yet because the node is still waiting for its runtime. */
export function podsAwaitingNode(context: NodeContext): PodViewWithTree[] {
  const { health } = context;
  if (health.ready || health.since === 0) return [];
  const tags = ['waiting', 'awaitingNode'];
  const waitingFor = `the container runtime, which is not ready: ${health.message ?? 'no reason given'}`;
  return newPods(context).map((pod) => {
    const { uid, name } = pod.metadata;
    const id = `pod/${uid}`;
    const treeFields = { state: 'awaitingNode', tags, since: health.since, waitingFor, facts: [], children: [] };
    const emptyView = {
      containers: [],
      volumes: [],
      isInitialized: false,
      isUnsettled: true,
      hasEnded: false,
      isReclaimed: false,
    };
    return {
      view: { pod, tags, conditions: pod.status?.conditions, ...emptyView },
      tree: { id, machine: 'pod', kind: 'pod', name, path: id, ...treeFields },
    };
  });
}

/** Returns the reason why the runtime is not ready, or undefined if it is ready or its state is not known yet. */
export const runtimeNotReadyReason = ({
  ready,
  since,
  lacksOnlyNetwork,
  message,
}: RuntimeHealth): string | undefined =>
  ready || lacksOnlyNetwork || since === 0 ? undefined : (message ?? 'no reason given');

export function limiterView(ref: ActorRefFrom<typeof limiterMachine> | undefined): LimiterView {
  // A stopped node no longer has limiters.
  if (ref === undefined) return { capacity: 0, held: [], queue: [] };
  const { context } = ref.getSnapshot();
  const keysOf = (requests: readonly { readonly key: string }[]) => requests.map(({ key }) => key);
  const slowSlots = context.heldSlots.filter((each) => each.isSlow);
  const waitingRequests = waitingOrder(context);
  const blockers = waitingRequests.map((request) => blockingHolders(context, request).map(({ purpose }) => purpose));
  return {
    capacity: context.capacity,
    held: keysOf(context.heldSlots),
    ...(slowSlots.length > 0 ? { slow: keysOf(slowSlots) } : {}),
    queue: keysOf(waitingRequests),
    ...(blockers.some((purposes) => purposes.length > 0) ? { behind: blockers } : {}),
  };
}

/** Returns the pods that may have running processes, in the version with the admitted resources. */
export const activePods = (node: { readonly children: object }): Pod[] =>
  childrenOf<PodRef>(node, 'pod/').flatMap((child) => {
    const snapshot = child.getSnapshot();
    return snapshot.hasTag('ended') ? [] : [snapshot.context.allocated];
  });
